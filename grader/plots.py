def write_plots(rows, work, assignments):
    return []
