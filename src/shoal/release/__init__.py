"""CHECK: declaring, the worker of a block, the promises, the summary, and the Release."""
