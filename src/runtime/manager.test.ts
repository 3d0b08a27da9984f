import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../test/support/definition-parser.ts';
import { thingDefinition } from '../../test/support/definitions.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { QuietCluster } from '../../test/support/fakes/quiet-cluster.ts';
import { freshMetrics } from '../../test/support/silent-telemetry.ts';
import type { LocatedDefinition } from '../definition/index.ts';
import { KubeError } from '../kube/roles.ts';
import { createLogger } from '../telemetry/index.ts';
import { createSystemRandom } from '../util/random.ts';
import { createManager } from './manager.ts';
import type { RefusedFile } from './refused-file.ts';
import type { WantedSet } from './wanted-definition.ts';

/** A cluster in which nothing may be done: definitions are there, and fail. */
class ForbiddenCluster extends QuietCluster {
  override fetchKindSchema(): Promise<never> {
    return Promise.reject(new KubeError('forbidden', 'no', { status: 403 }));
  }
}

function located(name: string, body = '  children: []\n'): LocatedDefinition {
  const text = thingDefinition(name, body, { group: `${name}.example.com` });
  const [definition] = definitionParser.parse(text, `${name}.yaml`).definitions;
  assert.ok(definition, text);
  return definition;
}

const changed = '  children: []\n  status: { size: "${ 1 }" }\n';

function wantedOf(
  definitions: readonly LocatedDefinition[],
  refused: readonly RefusedFile[] = [],
): WantedSet {
  return { definitions: definitions.map((each) => ({ located: each })), refused };
}

async function start(
  definitions: readonly LocatedDefinition[],
  refused: readonly RefusedFile[] = [],
) {
  const metrics = freshMetrics();
  const cluster = new ForbiddenCluster([]);
  const log: { readonly msg: string; readonly definition?: string }[] = [];
  const manager = createManager({
    cluster,
    clock: new FakeClock(),
    random: createSystemRandom(),
    logger: createLogger({
      level: 'info',
      destination: { write: (line) => void log.push(JSON.parse(line)) },
    }),
    metrics,
  });
  manager.replace(wantedOf(definitions, refused));
  const stopper = new AbortController();
  const ended = manager.run(stopper.signal);
  await settle();
  const revisions = () =>
    Object.fromEntries(manager.view().definitions.map(({ name, revision }) => [name, revision]));
  return { manager, cluster, metrics, log, revisions, ended, stop: () => stopper.abort() };
}

describe('runtime/manager', () => {
  test('definitions can be replaced while it runs: new ones start, changed ones start over, others stop', async () => {
    const [a, b, c] = [located('aaa'), located('bbb'), located('ccc')];
    const { manager, metrics, revisions, ended, stop } = await start([a, b]);
    const edited = located('bbb', changed);
    assert.notEqual(edited.definition.revision, b.definition.revision);
    manager.replace(wantedOf([edited, c]));
    await settle();
    assert.deepEqual(revisions(), {
      bbb: edited.definition.revision,
      ccc: c.definition.revision,
    });
    manager.observe();
    const text = await metrics.expose();
    assert.doesNotMatch(text, /definition="aaa"/);
    assert.match(text, /^homeostat_definition_state\{definition="bbb",state="failing"\} 1$/m);
    assert.match(text, /^homeostat_definitions\{state="failing"\} 2$/m);
    stop();
    await ended;
    assert.doesNotMatch(await metrics.expose(), /definition="(?:bbb|ccc)"/);
  });

  test('definitions that were refused for their mistakes count beside those that run', async () => {
    const refused = [{ file: 'bad.yaml', definitions: 2, diagnostics: ['bad.yaml:1:1: no'] }];
    const { manager, metrics, ended, stop } = await start([located('aaa')], refused);
    assert.deepEqual(manager.view().refused, refused);
    manager.observe();
    const text = await metrics.expose();
    assert.match(text, /^homeostat_definitions\{state="refused"\} 2$/m);
    assert.match(text, /^homeostat_definitions\{state="failing"\} 1$/m);
    stop();
    await ended;
  });

  test('Events that may not be written are a warning with the rule to add', async () => {
    const { manager, cluster, ended, stop } = await start([]);
    assert.deepEqual(manager.view().warnings, []);
    const right = { verb: 'create', group: 'events.k8s.io', resource: 'events', namespace: 'a' };
    cluster.eventsRefused = { namespaces: 3, right };
    assert.deepEqual(manager.view().warnings, [
      'Events are not written: The runtime may not create events.events.k8s.io in namespace "a"; a role needs the rule { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] } (and so in 2 other namespaces)',
    ]);
    stop();
    await ended;
  });

  test('a definition that stays as it is goes on undisturbed', async () => {
    const { manager, ended, stop } = await start([located('aaa')]);
    const before = manager.view().definitions[0];
    manager.replace(wantedOf([located('aaa'), located('bbb')]));
    assert.deepEqual(manager.view().definitions[0], before);
    stop();
    await ended;
  });

  test('the log says when a definition stops because its text is gone, and only then', async () => {
    const { manager, log, ended, stop } = await start([located('aaa'), located('bbb')]);
    const stopped = () =>
      log.flatMap(({ msg, definition }) => (/^Definition stopped/.test(msg) ? definition : []));
    manager.replace({ ...wantedOf([located('bbb', changed)]), broken: [located('aaa')] });
    await settle();
    assert.deepEqual(stopped(), [], 'one has mistakes, the other is edited');
    manager.replace(wantedOf([]));
    await settle();
    assert.deepEqual(stopped(), ['bbb']);
    stop();
    await ended;
  });

  test('nothing starts after the end', async () => {
    const { manager, metrics, ended, stop } = await start([]);
    stop();
    await ended;
    assert.equal(manager.view().isStopping, true);
    manager.replace(wantedOf([located('aaa')]));
    await settle();
    assert.doesNotMatch(await metrics.expose(), /definition="aaa",state="failing"\} 1/);
  });
});
