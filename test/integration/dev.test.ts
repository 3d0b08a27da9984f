import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { shippedText } from '../support/definitions.ts';
import { DevProcess, type DevProcessOptions } from '../support/dev-process.ts';

const running = new Set<DevProcess>();

function start(options: DevProcessOptions): DevProcess {
  const dev = new DevProcess(options);
  running.add(dev);
  return dev;
}

const podset = {
  'podset.yaml': shippedText('podset.yaml'),
  'samples/podset.yaml': shippedText('samples/podset.yaml'),
};

describe('integration/dev', () => {
  after(() => Promise.all([...running].map((dev) => dev.stop())));

  test('a sample becomes Pods and a status, a save of it is applied, and all ends cleanly', async () => {
    const dev = start({ files: podset });
    await dev.untilSaid(/Operator "podset" is running/);
    await dev.untilSaid(/^Created PodSet "example"$/m);
    await dev.untilSaid(/^\+ PodSet default\/example > Deployment example/m);
    await dev.untilSaid(/^~ PodSet default\/example: Ready$/m);
    await dev.untilSaid(/Deployment example: 3\/3 ready/);
    assert.doesNotMatch(dev.output, /is new/);
    const url = /^ {2}(http:\/\/127\.0\.0\.1:\d+\/\w{32})\/apis$/m.exec(dev.output)?.[1] ?? '';
    const answer = await fetch(`${url}/api/v1/namespaces/default/pods`);
    const { items } = (await answer.json()) as { items: { status: { phase: string } }[] };
    assert.deepEqual(
      items.map(({ status }) => status.phase),
      ['Running', 'Running', 'Running'],
    );
    assert.ok(readFileSync(dev.kubeconfig, 'utf8').includes(url));
    dev.save('samples/podset.yaml', shippedText('samples/podset.yaml').replace('3', '2'));
    await dev.untilSaid(/Applied PodSet "example"/);
    await dev.untilSaid(/Deployment example: 2\/2 ready/);
    dev.remove('samples/podset.yaml');
    await dev.untilSaid(/Sample "podset\.yaml" was removed; its objects stay: PodSet "example"/);
    const { kubeconfig } = dev;
    assert.equal(await dev.stop(), 0);
    assert.equal(existsSync(kubeconfig), false);
  });

  test('a definition that is saved is reloaded, one with errors is not, and the old one continues', async () => {
    const dev = start({ files: podset });
    const text = podset['podset.yaml'];
    await dev.untilSaid(/Deployment example: 3\/3 ready/);
    dev.save('podset.yaml', text.replace('spec.size', 'spec.size * 2'));
    await dev.untilSaid(/Operator "podset" changed: children\.deployment\.template\.spec/);
    await dev.untilSaid(/Deployment example: 6\/6 ready/);
    dev.save('podset.yaml', text.replace('spec.size', 'spec.sise'));
    await dev.untilSaid(/Did you mean "size"/);
    await dev.untilSaid(/Operator "podset" keeps its previous revision/);
    dev.save('podset.yaml', text.replace('spec.size', 'spec.size * 2'));
    await dev.untilSaid(/File operators\/podset\.yaml has no errors any more/);
    dev.save('samples/podset.yaml', shippedText('samples/podset.yaml').replace('3', '1'));
    await dev.untilSaid(/Deployment example: 2\/2 ready/);
    dev.save('foobar.yaml', shippedText('foobar.yaml'));
    await dev.untilSaid(/Operator "foobar" is new/);
    await dev.untilSaid(/Operator "foobar" is running/);
    dev.remove('foobar.yaml');
    await dev.untilSaid(/Operator "foobar" was removed/);
    dev.remove('podset.yaml');
    await dev.untilSaid(/Operator "podset" was removed; its resources and children stay/);
    dev.save('podset.yaml', text);
    await dev.untilSaid(/Operator "podset" is new[\s\S]*Operator "podset" is running/);
    assert.equal(await dev.stop(), 0);
  });

  test('a breaking change of the CRD is installed, and a warning lists what breaks, with its place', async () => {
    const text = podset['podset.yaml'];
    const dev = start({ files: podset });
    await dev.untilSaid(/Deployment example: 3\/3 ready/);
    assert.doesNotMatch(dev.output, /breaking change/);
    const changed = text.replace(/minimum: \d+/, 'minimum: 2');
    assert.notEqual(changed, text);
    dev.save('podset.yaml', changed);
    const warning = 'A breaking change of the CustomResourceDefinition is installed, as allowed';
    await dev.untilSaid(new RegExp(`^warn.*${warning}`, 'm'));
    const reason =
      /podset\.yaml:\d+:\d+: \\"spec\.size\\" of version \\"v1alpha1\\" raises \\"minimum\\" from \\"0\\" to \\"2\\"/;
    await dev.untilSaid(reason);
    assert.doesNotMatch(dev.output, /keeps its previous revision/);
    dev.save('samples/podset.yaml', shippedText('samples/podset.yaml').replace('3', '1'));
    await dev.untilSaid(/spec\.size.*should be greater than or equal to 2/);
    // A change that breaks nothing is no warning.
    dev.save('podset.yaml', changed.replace('minimum: 2', 'minimum: 0'));
    dev.save('samples/podset.yaml', shippedText('samples/podset.yaml').replace('3', '0'));
    await dev.untilSaid(/Deployment example: 0\/0 ready/);
    assert.equal(dev.output.split(warning).length, 2);
    assert.equal(await dev.stop(), 0);
  });

  test('a failed child is shown with its message and its place, and created when the definition is corrected', async () => {
    const text = podset['podset.yaml'];
    const wrong = text.replace('spec.size', '$number(metadata.name)');
    const dev = start({ files: { ...podset, 'podset.yaml': wrong } });
    await dev.untilSaid(
      /^~ PodSet default\/example > Deployment example: failed: spec\.replicas: .*\(podset\.yaml:\d+:\d+\)$/m,
    );
    dev.save('podset.yaml', text);
    await dev.untilSaid(/^\+ PodSet default\/example > Deployment example/m);
    assert.doesNotMatch(dev.output, /^- PodSet/m);
    assert.equal(await dev.stop(), 0);
  });

  test('a folder without definitions is rejected', async () => {
    const dev = start({ files: { 'notes.txt': '' } });
    await dev.untilSaid(/There is no definition in "operators"/);
    assert.equal(await dev.ended(), 2);
  });
});
