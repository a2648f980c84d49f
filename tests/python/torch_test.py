# SPDX-License-Identifier: Apache-2.0
"""torch tensors through DLPack, and locus.torch inside models: gradients by gradcheck, a Llama that trains the same."""
import io
import unittest

import by_hand
import numpy as np
import torch

import locus
import locus.torch as lt

DOUBLE = torch.float64


def tensor(*shape, dtype=DOUBLE, seed=0, grad=False):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=DOUBLE, generator=generator).to(dtype).requires_grad_(grad)


class InPlace(unittest.TestCase):
    def test_types_without_a_copy(self):
        rope = locus.rope(head_dim=16, pairing="interleaved", base=5e5)
        for dtype, epsilon in ((torch.float32, 2.0**-24), (torch.bfloat16, 2.0**-8), (torch.float16, 2.0**-11)):
            whole = tensor(2, 5, 6, 16, dtype=dtype)
            before = whole.clone()
            q, k = whole[:, :, :4], whole[:, :, 4:]  # strided views: what changes is the tensor itself
            rope.apply_(q, k, positions=torch.arange(7, 12))
            want = by_hand.rotate(before.double().numpy(), np.arange(7, 12), "interleaved", base=5e5)
            error = np.max(np.abs(whole.double().numpy() - want))
            self.assertLessEqual(error, by_hand.rotation_bound(before.double(), epsilon))

    def test_heads_first_and_numpy_agree(self):
        rope = locus.rope(head_dim=8, pairing="half")
        x = tensor(2, 3, 5, 8, dtype=torch.float32)
        array = x.numpy().copy()
        rope.apply_(x, positions=3, axes="bhtd")
        rope.apply_(array, positions=3, axes="bhtd")
        np.testing.assert_array_equal(x.numpy(), array)

    def test_refused(self):
        rope = locus.rope(head_dim=8, pairing="half")
        with self.assertRaisesRegex(ValueError, "requires a gradient: use locus.torch"):
            rope.apply_(tensor(4, 2, 8, grad=True))
        with self.assertRaisesRegex(TypeError, "q must be float32"):
            rope.apply_(torch.ones(4, 2, 8, dtype=torch.int32), torch.ones(4, 2, 8))
        with self.assertRaisesRegex(ValueError, "more than once"):
            rope.apply_(tensor(4, 1, 8).expand(4, 2, 8))
        with self.assertRaisesRegex(ValueError, "contiguous in its last"):
            rope.apply_(tensor(4, 8, 2).transpose(1, 2))
        with self.assertRaisesRegex(ValueError, "must be in CPU memory|meta"):
            rope.apply_(torch.ones(4, 2, 8, device="meta"))


class Gradients(unittest.TestCase):
    """gradcheck compares with differences in float64: its tolerances are 1e-5 + 1e-3 |g|; we compute in double."""

    def test_rotary(self):
        encodings = [
            locus.rope(head_dim=6, pairing="half"),
            locus.rope(head_dim=8, pairing="interleaved", rotary_dim=4, rotary_offset=2),
            locus.rope(head_dim=8, pairing="interleaved", output_order="deinterleaved"),
            locus.rope(head_dim=8, pairing="half", rule=locus.yarn(factor=4, original_length=64)),
            locus.xpos(head_dim=6, pairing="interleaved"),
        ]
        for encoding in encodings:
            for role in ("query", "key"):
                x = tensor(2, 3, 2, encoding.arguments["head_dim"], grad=True)

                def turn(x):
                    return lt.rotary(x, encoding, [5, 90, 2], role=role)

                self.assertTrue(torch.autograd.gradcheck(turn, (x,)), repr(encoding))
                self.assertTrue(torch.autograd.gradgradcheck(turn, (x,)), repr(encoding))

    def test_rotary_takes_any_strides(self):
        encoding = locus.rope(head_dim=4, pairing="half")
        x = tensor(1, 4, 3, 2, grad=True)
        turned = lt.rotary(x.transpose(1, 3), encoding, axes="bthd")  # last stride is not 1
        turned.sum().backward()  # a gradient of stride 0
        ones = by_hand.rotate(np.ones((1, 2, 3, 4)), -np.arange(2), "half")
        np.testing.assert_allclose(x.grad.transpose(1, 3).numpy(), ones, rtol=0, atol=1e-14)

    def test_attention(self):
        q, k, v = (tensor(1, *shape, 4, seed=seed, grad=True) for seed, shape in enumerate([(3, 2), (4, 1), (4, 1)]))
        encodings = [None, locus.rope(head_dim=4, pairing="half"), locus.alibi(heads=2), locus.kerple(
            heads=2, r1=[0.5, 1], r2=[1, 2])]
        for encoding in encodings:
            for more in ({"window": 3}, {"causal": False, "soft_cap": 5.0}):

                def attend(q, k, v):
                    return lt.attention(q, k, v, encoding, **more)

                self.assertTrue(torch.autograd.gradcheck(attend, (q, k, v)), f"{encoding} {more}")

    def test_alibi_attention(self):
        q, k, v = (tensor(1, 4, 5, 6, seed=seed, grad=True) for seed in range(3))
        self.assertTrue(torch.autograd.gradcheck(lambda *qkv: lt.alibi_attention(*qkv, axes="bhtd"), (q, k, v)))
        got = lt.alibi_attention(q, k, v, axes="bhtd").detach().numpy()[0].swapaxes(0, 1)
        plain = [one.detach().numpy()[0].swapaxes(0, 1) for one in (q, k, v)]
        want = by_hand.attention(*plain, by_hand.causal(5, 5), 6**-0.5, by_hand.alibi_bias(4, 5, 5))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)

    def test_learned_weights_and_sinks(self):
        # Weights are stored in float32, so differences are computed here with steps that float32 can represent.
        q, k, v = (tensor(1, 4, 2, 6, seed=seed) for seed in range(3))
        table = (torch.arange(16).reshape(8, 2) / 8).float().requires_grad_()
        sinks = torch.tensor([0.5, -0.25], requires_grad=True)
        encoding = locus.t5(heads=2, num_buckets=8, max_distance=12, table=table)
        aim = tensor(1, 4, 2, 6, seed=9)

        def loss(table, sinks):
            out = lt.attention(q, k, v, encoding, weights={"table": table}, sink_logits=sinks)
            return (out * aim).sum()

        loss(table, sinks).backward()
        step = 2.0**-10
        for leaf in (table, sinks):
            self.assertGreater(float(leaf.grad.abs().sum()), 0)
            for index in np.ndindex(*leaf.shape):
                sides = []
                for sign in (1, -1):
                    moved = leaf.detach().clone()
                    moved[index] += sign * step
                    pair = (moved, sinks) if leaf is table else (table, moved)
                    sides.append(float(loss(*pair)))
                # The third derivative of a softmax average is below 8 max|v| sum|aim|: error step^2 / 6 of that, and
                # the gradient itself is rounded to float32.
                bound = step**2 / 6 * 8 * float(v.abs().max()) * float(aim.abs().sum()) + 2.0**-23
                self.assertLessEqual(abs((sides[0] - sides[1]) / (2 * step) - float(leaf.grad[index])), bound)

    def test_half_precision_runs_and_keeps_types(self):
        rope = locus.rope(head_dim=16, pairing="half")
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            q, k, v = (tensor(1, 6, 2, 16, dtype=dtype, seed=seed, grad=True) for seed in range(3))
            out = lt.attention(q, k, v, rope)
            out.float().sum().backward()
            self.assertEqual((out.dtype, q.grad.dtype, v.grad.shape), (dtype, dtype, v.shape))


class Tracing(unittest.TestCase):
    def test_rotary_as_a_program_of_its_own(self):
        x = torch.randn(2, 5, 3, 16, generator=torch.Generator().manual_seed(1))
        encodings = [
            locus.rope(head_dim=16, pairing="half", rule=locus.yarn(factor=4, original_length=8)),
            locus.rope(head_dim=16, pairing="interleaved", rotary_dim=8, rotary_offset=4),
            locus.xpos(head_dim=16, pairing="interleaved"),
        ]
        for encoding in encodings:
            for axes, shaped in (("bthd", x), ("bhtd", x.transpose(1, 2))):
                for positions in (7, np.array([[0, 1, 2, 3, 4], [9, 8, 7, 6, 5]])):

                    def rotate(one):
                        return lt.rotary(one, encoding, positions, axes=axes, role="key")

                    traced = torch.jit.trace(rotate, shaped)
                    kept = io.BytesIO()
                    torch.jit.save(traced, kept)  # only operations of torch can be saved
                    kept.seek(0)
                    torch.testing.assert_close(torch.jit.load(kept)(shaped), rotate(shaped), rtol=1e-5, atol=1e-6)
                    torch.testing.assert_close(traced(2 * shaped), rotate(2 * shaped), rtol=1e-5, atol=1e-6)

    def test_refuses_other_schemes(self):
        (example,) = [one["example"] for one in locus._core.schemes() if one["name"] == "fope"]
        fope = locus.fope(**example)
        with self.assertRaisesRegex(locus.Error, "fope"):
            torch.jit.trace(lambda x: lt.rotary(x, fope), torch.ones(1, 2, 1, example["head_dim"]))


class Llama(torch.nn.Module):
    """Two layers of Llama in plain torch; Locus replaces `turn` and `attend`."""

    def __init__(self, turn, attend, vocabulary=17, width=32, heads=4, key_heads=2, layers=2):
        super().__init__()
        torch.manual_seed(3)
        self.turn, self.attend, self.heads, self.key_heads, self.dim = turn, attend, heads, key_heads, width // heads
        linear = lambda a, b: torch.nn.Linear(a, b, bias=False)
        self.embed = torch.nn.Embedding(vocabulary, width)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            self.layers.append(torch.nn.ModuleDict({
                "q": linear(width, width), "k": linear(width, key_heads * self.dim),
                "v": linear(width, key_heads * self.dim), "o": linear(width, width),
                "gate": linear(width, 48), "up": linear(width, 48), "down": linear(48, width)}))
        self.head = linear(width, vocabulary)

    @staticmethod
    def norm(x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)

    def forward(self, tokens):
        batch, length = tokens.shape
        x = self.embed(tokens)
        for layer in self.layers:
            h = self.norm(x)
            q = self.turn(layer["q"](h).view(batch, length, self.heads, self.dim))
            k = self.turn(layer["k"](h).view(batch, length, self.key_heads, self.dim))
            v = layer["v"](h).view(batch, length, self.key_heads, self.dim)
            x = x + layer["o"](self.attend(q, k, v).reshape(batch, length, -1))
            h = self.norm(x)
            x = x + layer["down"](torch.nn.functional.silu(layer["gate"](h)) * layer["up"](h))
        return self.head(self.norm(x))


def plain_turn(x):
    """transformers' rotate_half."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[1], dtype=DOUBLE)[:, None] * 10000.0 ** (-torch.arange(half, dtype=DOUBLE) / half)
    cos, sin = (torch.cat([f(angle)] * 2, -1)[None, :, None].to(x.dtype) for f in (torch.cos, torch.sin))
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def plain_attend(q, k, v):
    q, k, v = (one.transpose(1, 2) for one in (q, k, v))
    k, v = (one.repeat_interleave(q.shape[1] // k.shape[1], 1) for one in (k, v))
    score = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    later = torch.ones(score.shape[-2:], dtype=torch.bool).triu(1)
    return (score.masked_fill(later, float("-inf")).softmax(-1) @ v).transpose(1, 2)


STEPS = 20


def losses(turn, attend, dtype, disturbance=0.0):
    model = Llama(turn, attend).to(dtype)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1 + disturbance)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    tokens = torch.randint(0, 17, (4, 12), generator=torch.Generator().manual_seed(5))
    curve = []
    for _ in range(STEPS):
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, 17), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(float(loss.detach()))
    return np.array(curve)


class SameLossCurve(unittest.TestCase):
    def test_llama(self):
        rope = locus.rope(head_dim=8, pairing="half")
        attend = lambda q, k, v: lt.attention(q, k, v, rope, rotated=True)
        theirs = losses(plain_turn, plain_attend, DOUBLE)
        self.assertLess(theirs[-1], theirs[0] - 0.5)  # it learns, so equal curves mean something
        # The effect on the curve of a relative change of all numbers by d, measured on the plain model: d times this.
        # About 200 operations in sequence, forward and backward; each may round once per step.
        disturbed = losses(plain_turn, plain_attend, DOUBLE, disturbance=1e-6)
        bound = max(1.0, np.max(np.abs(disturbed - theirs)) / 1e-6) * 200 * STEPS
        for dtype, epsilon in ((DOUBLE, 2.0**-53), (torch.float32, 2.0**-24)):
            plain = losses(plain_turn, plain_attend, dtype)
            ours = losses(lambda x: lt.rotary(x, rope), attend, dtype)
            np.testing.assert_allclose(ours, plain, rtol=0, atol=bound * epsilon)
        wrong = losses(lambda x: lt.rotary(x, rope, 2 * torch.arange(x.shape[1])), attend, DOUBLE)
        self.assertGreater(np.max(np.abs(wrong - theirs)), bound * 2.0**-24)  # the comparison can fail


if __name__ == "__main__":
    unittest.main()
