import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { tallyOf, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const launch = useRuntimes(shared);

const flags = ['--sources', 'directories,objects'];
const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';
const textOf = (name: string, size: number) =>
  thingDefinition(name, `  status: { size: "\${ ${size} }" }\n`);

type Writes = Readonly<Record<string, number>>;

/** Writes by verb and resource, without Events and Leases, until it has been quiet. */
async function writesOf(act: () => Promise<unknown>): Promise<Writes> {
  const since = shared.audit.mark();
  await act();
  await shared.audit.quiet(3_000, { ofDefinitions: true });
  return tallyOf(
    shared.audit
      .writes({ since })
      .filter(({ resource }) => resource !== 'leases' && resource !== 'events'),
  );
}

/** `what` may write no more than this. Fewer status writes are possible where steps follow each other quickly. */
function assertAtMost(what: string, written: Writes, most: Writes): void {
  const exceeded = Object.entries(written).filter(
    ([request, count]) => count > (most[request] ?? 0),
  );
  assert.deepEqual(exceeded, [], `${what}: ${JSON.stringify(written)}`);
}

const object = 'patch operatordefinitions';
const status = 'patch operatordefinitions/status';
const crd = 'patch customresourcedefinitions';

shared.describe('integration/definition-requests', () => {
  function follow(name: string) {
    const path = `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
    return {
      path,
      until: (isMet: (live: KubeObject | undefined) => boolean) =>
        shared.client().untilObject(path, isMet),
    };
  }

  async function start(name: string): Promise<HomeostatRuntime> {
    const process = launch({ definitions: { 'd.yaml': textOf(name, 1) }, flags });
    await process.whenReady();
    await follow(name).until(isReady);
    return process;
  }

  test('what a start, an edit, a rejected edit, its correction, a hand-over and a restart write', async () => {
    const { until } = follow('counted');
    let process: HomeostatRuntime | undefined;
    const write = (text: string) => process?.write('d.yaml', text);
    const first = await writesOf(async () => {
      process = await start('counted');
    });
    // Two CRDs: of definitions, and of this one.
    assertAtMost('start', first, { [crd]: 2, [object]: 1, [status]: 3 });
    const edited = await writesOf(async () => {
      write(textOf('counted', 2));
      await until((live) => isReady(live) && JSON.stringify(live?.status).includes(' 2 '));
    });
    assertAtMost('edit', edited, { [object]: 1, [status]: 3 });
    const rejected = await writesOf(async () => {
      write(thingDefinition('counted', '  statsu: {}\n'));
      await until((live) => conditionOf(live)?.reason === 'Rejected');
    });
    assertAtMost('rejected edit', rejected, { [object]: 1, [status]: 1 });
    const mended = await writesOf(async () => {
      write(textOf('counted', 2));
      await until(isReady);
    });
    assertAtMost('correction', mended, { [object]: 1, [status]: 1 });
    const handedOver = await writesOf(async () => {
      await shared.client().apply(parseYaml(textOf('counted', 2)) as KubeObject);
      process?.remove('d.yaml');
      await until((live) => live?.metadata.labels?.['homeostat.dev/source'] === undefined);
    });
    assertAtMost('hand-over', handedOver, { [object]: 1, [status]: 1 });
    const restarted = await writesOf(async () => {
      await process?.stop();
      process = await start('counted');
    });
    assertAtMost('restart', restarted, {});
    await process?.stop();
  });

  test('what a withdrawal writes', async () => {
    const { until } = follow('withdrawn');
    const process = await start('withdrawn');
    await shared.audit.quiet(3_000, { ofDefinitions: true });
    const withdrawn = await writesOf(async () => {
      process.remove('d.yaml');
      await until((live) => conditionOf(live)?.reason === 'Withdrawn');
    });
    assertAtMost('withdrawal', withdrawn, { [object]: 1, [status]: 1 });
    await process.stop();
  });
});
