# SPDX-License-Identifier: Apache-2.0
"""The one list: which module of the program is followed by which hook. A new framework is a file and its line here."""

# module that the program imports -> (our module, function called with it as soon as it has been executed)
HOOKS = {
    "torch.optim.optimizer": ("pytorch", "optimizer_imported"),
    "torch.compiler": ("pytorch", "compiler_imported"),
    "torch.utils.data.dataloader": ("pytorch", "loader_imported"),
    "keras.src.callbacks.callback_list": ("keras", "imported"),  # Keras 3
    "keras.src.callbacks": ("keras", "package_imported"),  # Keras 2.13 to 2.15
    "keras.callbacks": ("keras", "package_imported"),  # Keras 2.6 to 2.12
    "tf_keras.src.callbacks": ("keras", "imported"),
    "tensorflow.python.keras.callbacks": ("keras", "imported"),  # TensorFlow to 2.5
    "transformers.trainer": ("transformers", "imported"),
    "lightning.pytorch.trainer.connectors.callback_connector": ("lightning", "imported"),
    "pytorch_lightning.trainer.connectors.callback_connector": ("lightning", "imported"),
}
