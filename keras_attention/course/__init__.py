"""The course: exercises, their checks, and the grader.

A judge, who knows what is right, never runs a submission in its own process when it grades others' work: a
child does (the modules of `sealed`), which has never held an expected value and can only answer with arrays.
Nothing here imports Keras, so that the judge starts at once.
"""
