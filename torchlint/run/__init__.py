"""Many files in, results out: jobs, pools, executors. Does not know what a rule is."""
