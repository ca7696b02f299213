"""Exports networks with random weights to ONNX files without weights."""
