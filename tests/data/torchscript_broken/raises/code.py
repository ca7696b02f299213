class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    ops.prim.RaiseException("not today")
    return x
class Conv(Module):
  weight : Tensor
