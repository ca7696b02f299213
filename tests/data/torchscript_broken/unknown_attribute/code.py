class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return torch.relu(self.kernel)
class Conv(Module):
  weight : Tensor
