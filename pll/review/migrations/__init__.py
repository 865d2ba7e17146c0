"""Steps from one version of the tables to the next. A step that has been published is never changed."""
