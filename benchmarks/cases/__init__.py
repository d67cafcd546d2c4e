"""The cases, one file each; the order here is that of a run."""

CASES = (
    # the engine
    "codes",
    "adaptive",
    "dial",
    "stored_qps",
    "graph_bytes",
    "build_time",
    "prune_time",
    "scan_speed",
    "insert",
    "open_1m",
    # LEANN's tables and figures
    "footprint",
    "latency",
    "downstream",
    "two_level",
    "hub_graph",
    "bounded_build",
    "update_steps",
    "hot_budget",
    "encoders",
    # HNSW-Slim's
    "slim_rivals",
    "slim_sizes",
    "slim_sweeps",
    "slim_estimate",
    "delta",
    "long_run",
    # ours
    "frontier",
    "growth",
    "dial_sets",
    "gpu_rounds",
    # the folder
    "lexical",
    "folder_bytes",
    "folder_recall",
    "answer_quality",
    "encoder",
    "pipeline_speed",
    "query_cost",
    "query_overhead",
    "update_cost",
    "segments",
    "install_size",
    "server_load",
    "server_slow_bodies",
    "remote_question",
    # WebANNS's
    "browser_speed",
    "browser_bytes",
    # harnesses of others
    "mteb_harness",
    "ann_harness",
)

# What `make bench` runs: minutes, and something of every table.
IN_SMALL = frozenset(CASES) - {
    "dial",
    "graph_bytes",
    "build_time",
    "prune_time",
    "open_1m",
    "long_run",
    "gpu_rounds",
    "lexical",
    "folder_bytes",
    "encoder",
    "pipeline_speed",
    "install_size",
    "server_load",
    "server_slow_bodies",
    "remote_question",
    "browser_speed",
    "browser_bytes",
}
