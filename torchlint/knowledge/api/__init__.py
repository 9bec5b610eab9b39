"""What of torch's API changed from release to release: a generated table, and how it is looked up."""
