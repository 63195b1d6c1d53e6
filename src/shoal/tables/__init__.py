"""READ: files and dataframes in and out, what a table holds, and the embedded example."""
