def write_feedback(rows, work, assignments):
    return []
