#!/usr/bin/env python3
"""The Python package beside the programs. Cases that need NumPy or scikit-learn are skipped, with the reason, where
these are not; DTNN_PYTHON names another Python that has them."""

import array
import copy
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from commands import BIN, DTNN_RUN, ROOT, SANITIZED, TINY, run

if SANITIZED:
    print("skipped: a sanitizer's library is not loaded by Python")
    sys.exit(77)
os.environ["DTNN_LIBRARY"] = os.path.join(BIN, "libdtnn.so.1")
sys.path.insert(0, os.path.join(ROOT, "tools", "library", "python"))
import dtnn

try:
    import numpy
except ImportError:
    numpy = None
try:
    import sklearn
except ImportError:
    sklearn = None

with_numpy = unittest.skipIf(numpy is None, "NumPy is not there")
SIZE = 28 * 28


def images(samples):
    """Made-up images in a buffer of [samples, 1, 28, 28] floats."""
    values = array.array("f", ((i * 2654435761 % 1000) / 1000 for i in range(samples * SIZE)))
    return memoryview(values).cast("B").cast("f", (samples, 1, 28, 28))


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def compiled(self, **how):
        return dtnn.compile(TINY, threads=2, tuning=False, **how)

    def test_a_training_is_that_of_dtnn_run(self):
        plan = self.compiled()
        plan.write(self.path("plan.json"))
        run(DTNN_RUN, self.path("plan.json"), "-o", self.path("run"), check=True)
        epochs = list(plan.train())
        self.assertEqual([(epoch.epoch, epoch.epochs) for epoch in epochs], [(1, 2), (2, 2)])
        self.assertEqual(list(plan.train()), [])
        plan.save_weights(self.path("own.safetensors"))
        with open(self.path("own.safetensors"), "rb") as own, open(self.path("run/weights.safetensors"), "rb") as run_s:
            self.assertEqual(own.read(), run_s.read())
        read = dtnn.read(self.path("run"))
        self.assertEqual(read.evaluate("test"), plan.evaluate("test"))
        self.assertEqual(read.predict(images(70)).tolist(), plan.predict(images(70)).tolist())
        self.assertEqual(dtnn.parse(plan.text).checksum, plan.checksum)

    def test_a_loop_that_is_left_goes_on(self):
        whole, cut = self.compiled(), self.compiled()
        whole.fit()
        for epoch in cut.train():
            self.assertEqual(epoch.epoch, 1)
            break
        seen = []

        def stop(now):
            seen.append(now["step"])
            return len(seen) == 3

        self.assertEqual(list(cut.train(on_step=stop)), [])
        self.assertEqual(seen, [1, 2, 3])
        cut.fit()
        self.assertEqual(len(cut.history), 2)
        self.assertEqual(cut.predict(images(3)).tolist(), whole.predict(images(3)).tolist())

    def test_an_exception_of_a_callback_comes_out(self):
        def fail(now):
            raise KeyError(now["step"])

        with self.assertRaises(KeyError):
            list(self.compiled().train(on_step=fail))

    def test_epochs_are_a_number_that_can_be_trained(self):
        plan = self.compiled()
        for wrong, error in (("run", TypeError), (1.5, TypeError), (-1, ValueError)):
            with self.assertRaises(error):
                plan.train(wrong)

    def test_jobs_are_paths_texts_and_dictionaries(self):
        with open(self.path("job.yaml"), "w") as file:
            file.write(TINY)
        by_path = dtnn.compile(self.path("job.yaml"), set={"training.epochs": 3, "training.metrics": []})
        self.assertIn("epochs: 3", by_path.resolved)
        self.assertFalse(by_path.diff(self.compiled()).same)
        self.assertTrue(self.compiled().diff(self.compiled()).same)
        self.assertEqual(dtnn.compile({"model": "simplecnn", "dataset": "digits", "training": {"extends": "adam"}}).name,
                         "job")
        self.assertIn("conv2d_1", str(by_path.summary()))
        self.assertGreater(by_path.memory.host, by_path.memory.parameters)
        self.assertEqual(len(by_path.forecast("cluster_100g", [1])), 1)
        for shown in (by_path, by_path.summary(), by_path.diff(self.compiled())):
            self.assertTrue(shown._repr_html_().startswith("<"))
        by_path.fit()
        self.assertEqual(by_path.history._repr_html_().count("<svg"), 1)

    def test_mistakes_are_exceptions_with_place_and_remedy(self):
        with self.assertRaises(dtnn.SpecError) as caught:
            dtnn.compile(TINY.replace("epochs", "epoch"))
        one = caught.exception.diagnostics[0]
        self.assertEqual((one.code, one.file, one.severity), ("unknown-field", "job.yaml", "error"))
        self.assertIn("epochs", one.help)
        self.assertEqual(caught.exception.status, 3)
        with self.assertRaises(dtnn.MismatchError):
            dtnn.parse("{}")
        with self.assertRaises(ValueError):
            self.compiled().evaluate("tset")
        with self.assertRaises(dtnn.DtnnError):
            self.compiled().predict(memoryview(bytes(SIZE + 1)).cast("B", (1, 1, 1, SIZE + 1)))
        with self.assertWarns(dtnn.DtnnWarning):
            self.compiled().open(threads=64)

    def test_weights_are_a_mapping(self):
        plan = self.compiled()
        weights, before = plan.weights, plan.predict(images(2)).tolist()
        self.assertEqual(list(weights), ["conv2d_1.weights", "conv2d_1.bias", "dense_1.weights", "dense_1.bias"])
        bias = weights["dense_1.bias"]
        weights["dense_1.bias"] = memoryview(array.array("f", range(10)))
        self.assertNotEqual(plan.predict(images(2)).tolist(), before)
        weights["dense_1.bias"] = bias
        self.assertEqual(plan.predict(images(2)).tolist(), before)
        with self.assertRaises(ValueError):
            weights["dense_1.bias"] = memoryview(array.array("f", range(9)))

    def test_two_threads_train_two_plans(self):
        plans = [self.compiled() for _ in range(2)]
        threads = [threading.Thread(target=plan.fit) for plan in plans]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(plans[0].predict(images(5)).tolist(), plans[1].predict(images(5)).tolist())

    def test_the_example_runs(self):
        path = os.path.join(ROOT, "tools", "library", "python")
        done = run(sys.executable, os.path.join(ROOT, "examples", "digits.py"), env={"PYTHONPATH": path})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a stroke is a ", done.stdout)

    @with_numpy
    def test_arrays_are_read_where_they_lie(self):
        plan = self.compiled()
        x = numpy.asarray(images(70))
        wanted = plan.predict(x)
        self.assertEqual((wanted.shape, wanted.dtype), ((70, 10), numpy.float32))
        last = numpy.ascontiguousarray(x.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2)
        self.assertFalse(last.flags.c_contiguous)
        turned = numpy.ascontiguousarray(x[::-1])[::-1]  # strides below zero
        for same in (last, turned, x.astype(numpy.float64), x.astype(">f4"), x.tolist()):
            self.assertTrue((plan.predict(same) == wanted).all())
        self.assertTrue((plan.predict(x[3:9]) == wanted[3:9]).all())
        self.assertEqual(plan.predict(x[:0]).shape, (0, 10))
        as_bytes = (x * 255).astype(numpy.uint8)
        self.assertTrue((plan.predict(as_bytes) == plan.predict(as_bytes.astype(numpy.float32) / numpy.float32(255))).all())

        # Forms that are met again, with other numbers; between them arrays that do not fit.
        fixed = numpy.array(x[:9])
        fixed.flags.writeable = False
        for first, second in ((x[:9], x[9:18]), (x[::-2], x[1::2]), (last[:4], last[4:8]), (fixed, x[9:18]),
                              (x[:0], x[2:2]), (as_bytes[:2], as_bytes[2:4])):
            for one in (first, second, first):
                numbers = one / numpy.float32(255) if one.dtype == numpy.uint8 else one
                self.assertEqual(plan.predict(one).tolist(), plan.predict(numbers.astype(numpy.float64)).tolist())
                self.assertEqual(plan.predict(one).tolist(), plan.predict(one).tolist())
                with self.assertRaises(dtnn.DtnnError):
                    plan.predict(x[:, :, :-1])
                with self.assertRaises(dtnn.UsageError):
                    plan.predict(x, x)

        class Exporter:
            __dlpack__, __dlpack_device__ = x.__dlpack__, x.__dlpack_device__

        self.assertTrue((plan.predict(Exporter()) == wanted).all())

    @unittest.skipIf(numpy is None or sklearn is None, "scikit-learn is not there")
    def test_the_classifier_is_one_of_scikit_learn(self):
        from sklearn.datasets import load_iris
        from sklearn.model_selection import cross_val_score
        from sklearn.utils.estimator_checks import check_estimator

        X, y = load_iris(return_X_y=True)
        self.assertGreater(cross_val_score(dtnn.DtnnClassifier(), X, y).mean(), 0.9)
        fitted = dtnn.DtnnClassifier(random_state=3).fit(X, y)
        for copied in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
            self.assertTrue((copied.predict_proba(X) == fitted.predict_proba(X)).all())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_estimator(dtnn.DtnnClassifier())


if __name__ == "__main__":
    if os.environ.get("DTNN_PYTHON", sys.executable) != sys.executable:
        sys.exit(subprocess.call([os.environ["DTNN_PYTHON"], __file__, *sys.argv[1:]],
                                 env={name: value for name, value in os.environ.items() if name != "DTNN_PYTHON"}))
    unittest.main()
