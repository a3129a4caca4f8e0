from luthier.testing import SessionContract


class TestTorchSession(SessionContract):
    engine = "torch"
    settings = ("device=cpu",)
    optimizers = ("sgd", "momentum", "nesterov", "adam", "adamw", "muon")
