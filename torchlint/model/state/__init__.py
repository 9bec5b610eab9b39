"""
The abstract state: guards, values, the trail of changes, joins, widening. Knows neither torch's operations nor rules.
"""
