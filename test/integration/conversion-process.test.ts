import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { ConvertProcess } from '../support/conversion/convert-process.ts';
import { WebhookRig } from '../support/conversion/webhook-rig.ts';
import { runCli } from '../support/homeostat-process.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';

const shared = useControlPlane();

shared.describe('integration/conversion-process', () => {
  const cluster = useKubeCluster(shared);

  test('processes end one after the other under load, and no request fails', async () => {
    const rig = await WebhookRig.start(shared, cluster);
    const processes: ConvertProcess[] = [];
    const start = async () => {
      const options = {
        ...{ namespace: rig.namespace, url: rig.balancer.url },
        kubeconfig: shared.plane.kubeconfigPath(),
        flags: ['--shutdown-delay', '1s'],
      };
      processes.push(await ConvertProcess.start(options));
    };
    const route = (without?: ConvertProcess) =>
      rig.balancer.setEndpoints(
        processes.filter((each) => each !== without).map(({ port }) => port),
      );
    try {
      await Promise.all([start(), start()]);
      route();
      await rig.install();
      const load = await rig.load();
      for (const ending of [...processes]) {
        const ended = ending.stop();
        // New connections still come to a process that ends.
        await ending.logged('The conversion webhook ends');
        await load.more(10);
        route(ending);
        assert.equal(await ended, 0);
        processes.splice(processes.indexOf(ending), 1);
        await start();
        route();
        await load.more(30);
      }
      assert.deepEqual(await load.stop(), []);
    } finally {
      await rig.stop();
      await Promise.all(processes.map((each) => each.kill()));
    }
  });

  test('health, readiness and metrics are served', async () => {
    const rig = await WebhookRig.start(shared, cluster);
    const converter = await ConvertProcess.start({
      ...{ namespace: rig.namespace, url: rig.balancer.url },
      kubeconfig: shared.plane.kubeconfigPath(),
    });
    try {
      rig.balancer.setEndpoints([converter.port]);
      await rig.install();
      const load = await rig.load();
      assert.deepEqual(await load.stop(), []);
      const page = async (path: string) => (await fetch(`${converter.healthUrl}${path}`)).text();
      assert.equal(await page('/healthz'), 'ok\n');
      assert.match(await page('/readyz?verbose'), /\[\+\]webhook ok\n\[\+\]shutdown ok/);
      const metrics = await page('/metrics');
      assert.match(
        metrics,
        /homeostat_conversions_total\{definition="dial",version="v1alpha1",result="converted"\} \d+/,
      );
      assert.match(
        metrics,
        /homeostat_conversion_request_duration_seconds_count\{definition="dial"\} \d+/,
      );
      const [, seconds] =
        /homeostat_conversion_certificate_expiration_timestamp_seconds (\d+)/.exec(metrics) ?? [];
      assert.ok(Number(seconds) * 1_000 > Date.now());
    } finally {
      await rig.stop();
      await converter.kill();
    }
  });

  for (const [flags, message] of [
    [['--webhook-url', 'http://127.0.0.1'], /Expected a URL such as/],
    [['--webhook-url', 'https://127.0.0.1/x'], /Expected a URL such as/],
    [['--webhook-port', '70000'], /Expected a number from 0 to 65535/],
    [['--shutdown-delay', 'soon'], /Expected a time/],
  ] as const)
    test(`wrong use is explained: ${flags.join(' ')}`, async () => {
      const { code, stderr } = await runCli('convert', ...flags);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
});
