import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { PublisherHarness } from '../../../../test/support/fakes/publisher-harness.ts';
import { bad, garbled, good, located } from '../../../../test/support/fakes/thing-texts.ts';
import { definitionGvk } from '../objects/names.ts';
import { controlsOf } from './definition-controls.ts';

const ref = 'ops/defs/thing.yaml';
const revisionOf = (text: string) => located(text).definition.revision;
const noteOf = (harness: PublisherHarness, key: string) =>
  harness.object('thing')?.metadata.annotations?.[`homeostat.dev/${key}`];

async function started(t: TestContext, before?: PublisherHarness): Promise<PublisherHarness> {
  const harness = new PublisherHarness(before);
  t.after(() => harness.stop());
  await harness.start();
  return harness;
}

/** With a definition of a ConfigMap that is published. */
async function published(t: TestContext): Promise<PublisherHarness> {
  const harness = await started(t);
  await harness.say({ [ref]: good('thing') });
  harness.cluster.takeWrites();
  return harness;
}

/** The text with annotations, in YAML. */
const asking = (text: string, annotations: string) =>
  text.replace('name: thing', `name: thing, annotations: { ${annotations} }`);

/** The spec with another value in it. */
const edited = (version: number) => located(good('thing', version)).document.spec as object;

describe('runtime/publish/publisher', () => {
  test('a text becomes an object, is confirmed, and costs one write', async (t) => {
    const harness = await started(t);
    await harness.say({ [ref]: good('thing') });
    assert.deepEqual(harness.cluster.takeWrites(), ['apply OperatorDefinition/thing']);
    assert.deepEqual(harness.object('thing')?.spec, located(good('thing')).document.spec);
    assert.equal(noteOf(harness, 'source-ref'), ref);
    assert.equal(harness.revision('thing'), revisionOf(good('thing')));
    await harness.wait(3_600_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('a changed text is published, and confirmed with its own revision', async (t) => {
    const harness = await published(t);
    await harness.say({ [ref]: good('thing', 2) });
    assert.equal(harness.revision('thing'), revisionOf(good('thing', 2)));
    assert.deepEqual(harness.cluster.takeWrites(), ['apply OperatorDefinition/thing']);
  });

  test('an error stands on the object, whose spec stays and is confirmed no more; mended, it is deleted', async (t) => {
    const harness = await published(t);
    await harness.say({ [ref]: bad('thing') });
    assert.deepEqual(harness.object('thing')?.spec, located(good('thing')).document.spec);
    assert.match(
      noteOf(harness, 'rejected') ?? '',
      /^ops\/defs\/thing\.yaml:\d+:\d+: .*Did you mean "reads"\?/,
    );
    assert.equal(harness.revision('thing'), undefined);
    await harness.say({ [ref]: good('thing', 3) });
    assert.equal(noteOf(harness, 'rejected'), undefined);
    assert.equal(harness.revision('thing'), revisionOf(good('thing', 3)));
  });

  test('a step writes at most once: what has errors from the beginning takes two, and so does what is mended', async (t) => {
    const harness = await started(t);
    await harness.say({ [ref]: bad('thing') });
    await harness.say({ [ref]: good('thing') });
    const write = 'apply OperatorDefinition/thing';
    assert.deepEqual(harness.cluster.takeWrites(), [write, write, write, write]);
    assert.equal(harness.mostWrites, 1);
    assert.equal(harness.revision('thing'), revisionOf(good('thing')));
  });

  test('a failure that lasts is a warning in the log, once', async (t) => {
    const harness = await published(t);
    const fail = (error: KubeError | undefined) => {
      harness.cluster.fault = ({ verb }) => (verb === 'apply' ? error : undefined);
    };
    const warnings = () => harness.log.splice(0).map(({ level, msg }) => `${level} ${msg}`);
    fail(new KubeError('conflict', 'Try again', { status: 409 }));
    await harness.say({ [ref]: good('thing', 2) });
    assert.deepEqual(warnings(), []);
    await harness.wait(600_000);
    assert.deepEqual(warnings(), ['warn Manifest cannot be published, will retry']);
    fail(undefined);
    await harness.wait(60_000);
    assert.equal(harness.revision('thing'), revisionOf(good('thing', 2)));
    fail(new KubeError('forbidden', 'No', { status: 403 }));
    await harness.say({ [ref]: good('thing', 3) });
    assert.deepEqual(warnings(), ['warn Manifest cannot be published, will retry']);
    await harness.wait(600_000);
    assert.deepEqual(warnings(), []);
  });

  test('a definition that never was good has an object all the same, and is not confirmed', async (t) => {
    const harness = await started(t);
    await harness.say({ [ref]: bad('thing') });
    assert.deepEqual(harness.object('thing')?.spec, {});
    assert.match(noteOf(harness, 'rejected') ?? '', /reeds/);
    assert.equal(harness.revision('thing'), undefined);
  });

  for (const [name, text] of [
    ['cannot be parsed', garbled],
    ['cannot be read', { text: '', unreadable: 'permission denied' }],
  ] as const)
    test(`a text that ${name} is noted once on the object, until it is mended`, async (t) => {
      const harness = await published(t);
      await harness.say({ [ref]: text });
      await harness.wait(3_600_000);
      assert.deepEqual(harness.cluster.takeWrites(), ['apply OperatorDefinition/thing']);
      assert.match(noteOf(harness, 'rejected') ?? '', /thing\.yaml:\d+:\d+: /);
      await harness.say({ [ref]: good('thing') });
      assert.equal(noteOf(harness, 'rejected'), undefined);
      assert.equal(harness.revision('thing'), revisionOf(good('thing')));
    });

  test('a source that cannot be read is noted once on its objects', async (t) => {
    const harness = await published(t);
    harness.source.fail('forbidden');
    await harness.wait(3_600_000);
    assert.deepEqual(harness.cluster.takeWrites(), ['apply OperatorDefinition/thing']);
    assert.equal(noteOf(harness, 'rejected'), 'forbidden');
  });

  test('an edit of the spec is not confirmed, and reverted with an Event', async (t) => {
    const harness = await published(t);
    await harness.replace('thing', edited(9));
    await harness.wait(60_000);
    assert.deepEqual(harness.object('thing')?.spec, located(good('thing')).document.spec);
    assert.deepEqual(harness.events, ['Reverted thing']);
    assert.equal(harness.revision('thing'), revisionOf(good('thing')));
  });

  test('an edit of what another process has published is reverted with an Event, too', async (t) => {
    const harness = await published(t);
    await harness.stop();
    const next = new PublisherHarness(harness);
    t.after(() => next.stop());
    await next.start();
    await next.say({ [ref]: good('thing') });
    assert.deepEqual(next.cluster.takeWrites(), []);
    await next.replace('thing', edited(9));
    assert.deepEqual(next.events, ['Reverted thing']);
  });

  test('a user who edits it again and again is answered ever more slowly', async (t) => {
    const harness = await published(t);
    for (let edit = 0; edit < 60; edit++) {
      await harness.replace('thing', edited(100 + edit));
      await harness.wait(100);
    }
    assert.ok(harness.cluster.takeWrites().length <= 12);
  });

  test('a user’s marks and labels stay', async (t) => {
    const harness = await published(t);
    await harness.edit('thing', 'kubectl', {
      metadata: {
        name: 'thing',
        annotations: { 'homeostat.dev/paused': 'true' },
        labels: { mine: 'yes' },
      },
    });
    await harness.say({ [ref]: good('thing', 2) });
    assert.equal(noteOf(harness, 'paused'), 'true');
    assert.equal(harness.object('thing')?.metadata.labels?.mine, 'yes');
  });

  test('a text that vanishes withdraws its object at once, and ten minutes later it is deleted', async (t) => {
    const harness = await published(t);
    await harness.say({});
    assert.ok(noteOf(harness, 'withdrawn'));
    assert.equal(harness.revision('thing'), undefined);
    assert.deepEqual(harness.events, ['Withdrawn thing']);
    await harness.wait(590_000);
    assert.equal(harness.object('thing')?.metadata.deletionTimestamp, undefined);
    await harness.wait(15_000);
    await harness.letGo('thing');
    await harness.wait(3_600_000);
    assert.equal(harness.object('thing'), undefined);
  });

  test('it stays as long across a restart', async (t) => {
    const harness = await published(t);
    await harness.say({});
    await harness.wait(300_000);
    await harness.stop();
    const next = await started(t, harness);
    await next.say({});
    await next.wait(290_000);
    assert.equal(next.object('thing')?.metadata.deletionTimestamp, undefined);
    await next.wait(15_000);
    await next.letGo('thing');
    assert.equal(next.object('thing'), undefined);
  });

  test('a text that comes back in time has the same object', async (t) => {
    const harness = await published(t);
    const { uid } = harness.object('thing')?.metadata ?? {};
    await harness.say({});
    await harness.wait(300_000);
    await harness.say({ [ref]: good('thing') });
    assert.equal(noteOf(harness, 'withdrawn'), undefined);
    assert.equal(harness.revision('thing'), revisionOf(good('thing')));
    await harness.wait(3_600_000);
    assert.equal(harness.object('thing')?.metadata.uid, uid);
  });

  test('an error beside it keeps a name that is not found any more', async (t) => {
    const harness = await published(t);
    await harness.say({ [ref]: bad('thnig') });
    await harness.wait(3_600_000);
    assert.equal(noteOf(harness, 'withdrawn'), undefined);
    assert.equal(harness.revision('thing'), revisionOf(good('thing')));
  });

  test('an object that is deleted is made again, once it is gone', async (t) => {
    const harness = await published(t);
    const { uid } = harness.object('thing')?.metadata ?? {};
    harness.cluster.server.delete(definitionGvk, { namespace: undefined, name: 'thing' });
    await harness.wait(60_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    await harness.letGo('thing');
    assert.ok(harness.object('thing'));
    assert.notEqual(harness.object('thing')?.metadata.uid, uid);
    assert.equal(harness.revision('thing'), revisionOf(good('thing')));
  });

  test('of two texts with one name the first keeps it, and the other takes over when it is deleted', async (t) => {
    const harness = await published(t);
    const other = 'ops/more/thing.yaml';
    await harness.say({ [ref]: good('thing'), [other]: good('thing', 2) });
    const [lost = ''] = harness.lost.at(-1) ?? [];
    assert.ok(lost.startsWith(`${other}: `) && lost.endsWith(`the name is published from ${ref}`));
    assert.equal(harness.revision('thing'), revisionOf(good('thing')));
    await harness.say({ [other]: good('thing', 2) });
    assert.deepEqual(harness.lost.at(-1), []);
    assert.equal(noteOf(harness, 'source-ref'), other);
    assert.equal(harness.revision('thing'), revisionOf(good('thing', 2)));
  });

  test('an object of a user is never touched', async (t) => {
    const harness = await started(t);
    await harness.edit('thing', 'kubectl', { spec: { children: [] } });
    await harness.say({ [ref]: good('thing') });
    await harness.wait(3_600_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.match(harness.lost.at(-1)?.join() ?? '', /a user created an OperatorDefinition/);
  });

  test('two runtimes with one name: the second leaves the object of the first alone', async (t) => {
    const harness = await published(t);
    const second = new PublisherHarness(harness, 'there');
    t.after(() => second.stop());
    await second.start();
    await second.say({ [ref]: good('thing', 2) });
    await second.wait(3_600_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.match(second.lost.at(-1)?.join() ?? '', /belongs to the runtime "here"/);
  });

  test('an object that a user applied to is the user’s when the manifest is removed', async (t) => {
    const harness = await published(t);
    await harness.edit('thing', 'kubectl', { spec: located(good('thing')).document.spec });
    await harness.say({});
    await harness.wait(3_600_000);
    const { labels, annotations } = harness.object('thing')?.metadata ?? {};
    assert.equal(labels?.['homeostat.dev/source'], undefined);
    assert.equal(annotations?.['homeostat.dev/withdrawn'], undefined);
    assert.deepEqual(harness.events, ['HandedOver thing']);
  });

  test('a text that the server does not take is an error', async (t) => {
    const harness = await published(t);
    harness.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && manifest?.spec !== undefined
        ? new KubeError('rejected', 'spec.x: no', { status: 422 })
        : undefined;
    await harness.say({ [ref]: good('thing', 2) });
    assert.match(noteOf(harness, 'rejected') ?? '', /Rejected by the API server: spec\.x: no/);
    assert.equal(harness.revision('thing'), undefined);
    assert.deepEqual(harness.object('thing')?.spec, located(good('thing')).document.spec);
  });

  test('a text that the server does not take is not sent again with each reconcile, but with ever longer delays', async (t) => {
    const harness = await published(t);
    let sent = 0;
    let isRejected = true;
    harness.cluster.fault = ({ verb, manifest }) => {
      if (verb !== 'apply' || manifest?.spec === undefined) return undefined;
      sent += 1;
      return isRejected ? new KubeError('rejected', 'spec.x: no', { status: 422 }) : undefined;
    };
    await harness.say({ [ref]: good('thing', 2) });
    assert.equal(sent, 1);
    const note = noteOf(harness, 'rejected');
    for (let seconds = 0; seconds < 300; seconds++) {
      await harness.reconcile('thing');
      await harness.wait(1_000);
    }
    assert.ok(sent > 5 && sent < 15, `${sent}`);
    assert.equal(noteOf(harness, 'rejected'), note);
    isRejected = false;
    await harness.wait(60_000);
    await harness.reconcile('thing');
    assert.equal(noteOf(harness, 'rejected'), undefined);
    assert.equal(harness.revision('thing'), revisionOf(good('thing', 2)));
  });

  test('a changed text is sent at once, though the server has not taken the last one', async (t) => {
    const harness = await published(t);
    const rejected = edited(2);
    harness.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && deepEqual(manifest?.spec, rejected)
        ? new KubeError('rejected', 'spec.x: no', { status: 422 })
        : undefined;
    await harness.say({ [ref]: good('thing', 2) });
    await harness.say({ [ref]: good('thing', 3) });
    assert.equal(harness.revision('thing'), revisionOf(good('thing', 3)));
    assert.equal(noteOf(harness, 'rejected'), undefined);
  });

  test('what a text asks for stands on its object beside what users ask for, and ends with it', async (t) => {
    const harness = await started(t);
    const asks = "'homeostat.dev/paused': 'true', 'homeostat.dev/approve-deletions': r1";
    await harness.say({ [ref]: asking(good('thing'), asks) });
    assert.deepEqual(marksOfThing(harness), { isPaused: true, approvedDeletions: 'r1' });
    assert.equal(noteOf(harness, 'paused'), undefined);
    assert.equal(noteOf(harness, 'approve-deletions'), undefined);
    await harness.say({ [ref]: good('thing') });
    assert.deepEqual(marksOfThing(harness), { isPaused: false, approvedDeletions: undefined });
    harness.cluster.takeWrites();
    await harness.wait(60_000);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('a pause in a text with errors is one all the same, and ends with the errors', async (t) => {
    const harness = await published(t);
    await harness.say({ [ref]: asking(bad('thing'), "'homeostat.dev/paused': 'true'") });
    assert.equal(marksOfThing(harness).isPaused, true);
    await harness.say({ [ref]: good('thing') });
    assert.equal(marksOfThing(harness).isPaused, false);
  });

  test('a pause outlives a text that cannot be read any more, and one that is gone', async (t) => {
    const harness = await started(t);
    const paused = asking(good('thing'), "'homeostat.dev/paused': 'true'");
    await harness.say({ [ref]: paused });
    await harness.say({ [ref]: '{{{' });
    assert.equal(marksOfThing(harness).isPaused, true);
    await harness.say({});
    assert.match(noteOf(harness, 'withdrawn') ?? '', /^\d{4}-/);
    assert.equal(marksOfThing(harness).isPaused, true);
  });

  test('of two texts with one name that one is asked whose object it is', async (t) => {
    const harness = await published(t);
    const other = 'ops/a/thing.yaml';
    const paused = asking(good('thing'), "'homeostat.dev/paused': 'true'");
    await harness.say({ [other]: paused, [ref]: good('thing') });
    assert.equal(noteOf(harness, 'source-ref'), ref);
    assert.equal(marksOfThing(harness).isPaused, false);
  });
});

/** What is asked for on the object. */
function marksOfThing(harness: PublisherHarness) {
  return controlsOf(harness.object('thing')?.metadata ?? { name: 'thing' });
}
