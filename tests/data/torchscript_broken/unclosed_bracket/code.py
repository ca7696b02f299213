class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return torch.relu(x
class Conv(Module):
  weight : Tensor
