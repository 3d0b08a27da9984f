import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { untilStatus } from '../support/scrape.ts';

const shared = useControlPlane({ controllerManager: false });

/** Each list is within the limits of the language, all of them together are not within this process's memory. */
const hungry = thingDefinition(
  'hungry',
  `  status:
    size: "\${ $count($map([1..spec.lists], function($i) { {'numbers': [1..9999]} })) }"
`,
);
const modest = thingDefinition('modest', '  status: { size: "${ spec.size }" }\n');
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=140' };

shared.describe('integration/crash-loop', () => {
  const stateFolder = mkdtempSync(join(tmpdir(), 'homeostat-crashes-'));
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-definitions-'));
  const running = new Set<HomeostatProcess>();
  after(async () => {
    await Promise.all([...running].map((process) => process.stop('SIGKILL')));
    for (const each of [stateFolder, folder]) rmSync(each, { recursive: true });
  });

  /** As the kubelet starts a container again: with what it left in its volume. */
  function start(definitions = { 'hungry.yaml': hungry, 'modest.yaml': modest }): HomeostatProcess {
    const kubeconfig = shared.plane.kubeconfigPath('operator');
    const process = new HomeostatProcess({
      ...{ kubeconfig, definitions, folder, stateFolder },
      env: smallHeap,
    });
    running.add(process);
    return process;
  }

  /** Its black box says so. */
  async function untilWaiting({ pid }: HomeostatProcess): Promise<void> {
    while (!readFileSync(join(stateFolder, `${pid}.box`), 'utf8').startsWith('-')) await sleep(20);
  }

  async function untilReported(definition: string, namespace: string, size: number): Promise<void> {
    await shared
      .client()
      .untilObject(
        thingPath(definition, namespace),
        (object) => (object?.status as { readonly size?: number })?.size === size,
      );
  }

  test('a definition that takes the process down three times is not run, the others are; another text is', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const first = start();
    await first.whenReady(2);
    await client.apply(thing('hungry', namespace, { lists: 3 }));
    await client.apply(thing('modest', namespace, { size: 1 }));
    await untilReported('hungry', namespace, 3);
    await untilReported('modest', namespace, 1);

    // Killed from outside while it waits: nobody is to blame.
    await untilWaiting(first);
    await first.stop('SIGKILL');
    const second = start();
    await second.whenReady(2);
    assert.ok(!second.entries.some(({ msg }) => msg.startsWith('The process ended')));

    await client.apply(thing('hungry', namespace, { lists: 9_000 }));
    assert.notEqual(await second.ended(), 0);
    // What these log is lost with them.
    for (let crash = 2; crash <= 3; crash++) assert.notEqual(await start().ended(), 0);

    const last = start();
    const refused = await last.whenLogged('Definition refused');
    assert.equal(refused.definition, 'hungry');
    const told = await last.whenLogged('The process ended while it worked for these');
    assert.deepEqual(told.definitions, ['hungry']);
    assert.match(String(refused.reason), /^It took the process down 3 times in 10 minutes/);
    await client.apply(thing('modest', namespace, { size: 2 }));
    await untilReported('modest', namespace, 2);
    assert.match(
      await untilStatus(last, '/readyz?verbose', 200),
      /\[!\]hungry refused: It took the process down/,
    );
    const shown = await client.untilObject(
      '/apis/homeostat.dev/v1alpha1/operatordefinitions/hungry',
      (object) => conditionOf(object, 'Accepted')?.reason === 'CrashLoop',
    );
    assert.equal(conditionOf(shown, 'Accepted')?.status, 'False');
    // So that other replicas know.
    const { crashes } = statusOf(shown);
    assert.equal(Array.isArray(crashes) && crashes.length, 3);
    last.write('hungry.yaml', hungry.replace('1..9999', '1..2'));
    await untilReported('hungry', namespace, 9_000);
    assert.equal(await last.stop(), 0);
  });
});
