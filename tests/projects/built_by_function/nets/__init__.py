from nets.build import build_logits, build_model  # noqa: F401
