import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const key = 'default/a';
const annotation = 'finished.homeostat.dev/podset';

/** A definition with a Job, and a ConfigMap that comes after it. */
function text({
  id = 'job',
  fields = '',
  spec = 'ttlSecondsAfterFinished: 5',
  name = 'load',
  more = '',
} = {}) {
  return `
  children:
    - id: ${id}
      ${fields}
      template:
        apiVersion: batch/v1
        kind: Job
        metadata: { name: "${name}" }
        spec:
          ${spec}
          template: { spec: { restartPolicy: Never, containers: [{ name: main, image: "\${ spec.image }" }] } }
    - id: after
      after: [${id}]
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: after }
  status:
    phase: \${ children.${id}.status.completionTime }
    image: \${ children.${id}.spec.template.spec.containers[0].image }
${more}`;
}

const time = '2026-01-01T00:00:00Z';

class Run {
  readonly harness: OperatorHarness;
  readonly resource: KubeObject;
  #written: string;

  private constructor(written: string) {
    this.#written = written;
    this.harness = new OperatorHarness(planOfPodSet(written));
    this.resource = this.harness.podSet('a', { image: 'one' });
  }

  static async of(written = text()): Promise<Run> {
    const run = new Run(written);
    await run.harness.start();
    await run.harness.settle();
    return run;
  }

  job(name = 'load'): KubeObject | undefined {
    return this.harness.get('batch/v1', 'Job', name);
  }

  finish(type = 'Complete', name = 'load'): void {
    const job = this.job(name);
    assert.ok(job, `Job ${name} does not exist`);
    const conditions = [{ type, status: 'True', reason: 'Done', lastTransitionTime: time }];
    const ended = type === 'Complete' ? { completionTime: time, succeeded: 1 } : { failed: 1 };
    this.harness.edit(job, { status: { ...ended, conditions } });
  }

  /** As the controller for finished Jobs does it: the object is terminating first. */
  expire(name = 'load'): void {
    const job = this.job(name);
    assert.ok(job);
    const metadata = { ...job.metadata, deletionTimestamp: time };
    this.harness.edit(job, { metadata });
    this.harness.deliver();
    this.harness.remove(job);
  }

  /** The Job has finished and removed itself, and all passes have run. */
  async done(type?: string): Promise<void> {
    this.finish(type);
    await this.harness.settle();
    this.expire();
    await this.harness.settle();
  }

  async want(spec: unknown): Promise<void> {
    this.harness.edit(this.resource, { spec });
    await this.harness.settle();
  }

  async restart(written = this.#written): Promise<void> {
    this.#written = written;
    await this.harness.restart(planOfPodSet(written));
    await this.harness.settle();
  }

  get metadata(): KubeObject['metadata'] {
    const found = this.harness.get('apps.example.com/v1', 'PodSet', 'a');
    assert.ok(found);
    return found.metadata;
  }

  /** The identities on record. */
  get recorded(): readonly string[] {
    return Object.keys(JSON.parse(this.metadata.annotations?.[annotation] ?? '{}') as object);
  }

  /** The writes since the last call. */
  writes(): readonly string[] {
    return this.harness.cluster.takeWrites();
  }
}

describe('reconcile: children that run once', () => {
  test('a Job that has removed itself is not created again, and its resource stays as it was', async () => {
    const run = await Run.of();
    run.finish();
    await run.harness.settle();
    const before = run.harness.status('a');
    assert.equal(before.phase, time);
    assert.match(run.harness.ready('a'), /^True AllReady/);
    assert.deepEqual(run.recorded, ['batch/Job default/load']);
    run.writes();
    run.expire();
    await run.harness.settle();
    assert.equal(run.job(), undefined);
    assert.deepEqual(run.writes(), []);
    assert.deepEqual(run.harness.status('a'), before);
  });

  test('what comes after it is created, also when it is missing then', async () => {
    const run = await Run.of();
    await run.done();
    const map = run.harness.get('v1', 'ConfigMap', 'after');
    assert.ok(map);
    run.harness.remove(map);
    await run.harness.settle();
    assert.ok(run.harness.get('v1', 'ConfigMap', 'after'));
    assert.equal(run.job(), undefined);
  });

  test('a restart writes nothing', async () => {
    const run = await Run.of();
    await run.done();
    run.writes();
    await run.restart();
    await run.harness.runOne(key);
    assert.deepEqual(run.writes(), []);
    assert.equal(run.job(), undefined);
  });

  test('the record costs one write when the Job finishes', async () => {
    const run = await Run.of();
    run.writes();
    run.finish();
    await run.harness.settle();
    assert.deepEqual(
      run.writes().map((write) => write.replace(/ .*\//, ' ')),
      ['edit a', 'apply after', 'status a'],
    );
  });

  test('a Job that was removed before a reconcile saw its end is done, too', async () => {
    const run = await Run.of();
    run.finish();
    run.harness.deliver();
    run.expire();
    run.harness.deliver();
    await run.harness.settle();
    assert.equal(run.job(), undefined);
    assert.deepEqual(run.recorded, ['batch/Job default/load']);
    assert.match(run.harness.ready('a'), /^True AllReady/);
    await run.restart();
    assert.equal(run.job(), undefined);
  });

  test('a changed intent runs it again, and so does the way back', async () => {
    const run = await Run.of();
    await run.done();
    for (const image of ['two', 'one']) {
      await run.want({ image });
      assert.ok(run.job(), image);
      assert.deepEqual(run.recorded, []);
      await run.done();
      assert.equal(run.job(), undefined);
    }
  });

  for (const [what, changed] of [
    ['another id', { id: 'migration' }],
    ['"holdsData"', { fields: 'holdsData: true' }],
    ['"deletionPolicy: Orphan"', { fields: 'deletionPolicy: Orphan' }],
    ['"runs: Once"', { fields: 'runs: Once' }],
    ['another "updateStrategy"', { fields: 'updateStrategy: { type: Recreate }' }],
    ['"ready"', { fields: 'ready: "${ $child.status.succeeded = 1 }"' }],
  ] as const)
    test(`a child that gets ${what} with a reload does not run again, nor after a restart`, async () => {
      const run = await Run.of();
      await run.done();
      for (const written of [text(changed), text(changed), text()]) {
        await run.restart(written);
        assert.equal(run.job(), undefined);
        assert.deepEqual(run.recorded, ['batch/Job default/load']);
        assert.match(run.harness.ready('a'), /^True AllReady/);
      }
    });

  test('an unfinished Job that a user deletes is created again', async () => {
    const run = await Run.of();
    const job = run.job();
    assert.ok(job);
    run.harness.remove(job);
    await run.harness.settle();
    assert.ok(run.job());
    assert.notEqual(run.job()?.metadata.uid, job.metadata.uid);
  });

  test('a failed Job is done and stays reported', async () => {
    const run = await Run.of();
    await run.done('Failed');
    assert.equal(run.job(), undefined);
    assert.match(run.harness.ready('a'), /^False ChildFailed/);
    run.writes();
    await run.restart();
    assert.deepEqual(run.writes(), []);
    assert.match(run.harness.ready('a'), /^False ChildFailed/);
  });

  for (const [what, fields, spec] of [
    ['"runs: Always"', 'runs: Always', 'ttlSecondsAfterFinished: 5'],
    ['no time to live', '', 'backoffLimit: 1'],
  ] as const) {
    test(`with ${what} a missing Job is created again, and nothing is recorded`, async () => {
      const run = await Run.of(text({ fields, spec }));
      await run.done();
      assert.ok(run.job());
      assert.deepEqual(run.recorded, []);
    });
  }

  test('"runs: Once" counts without a time to live', async () => {
    const run = await Run.of(text({ fields: 'runs: Once', spec: 'backoffLimit: 1' }));
    await run.done();
    assert.equal(run.job(), undefined);
  });

  test('"runs: Once" counts for a kind that does not end: it has finished when it is ready', async () => {
    const run = await Run.of(`
  children:
    - id: request
      runs: Once
      ready: \${ $condition($child, 'Signed').status = 'True' }
      template:
        apiVersion: v1
        kind: Service
        metadata: { name: request }
        spec: { clusterIP: None }
`);
    const request = () => run.harness.get('v1', 'Service', 'request');
    const remove = async () => {
      const found = request();
      assert.ok(found);
      run.harness.remove(found);
      await run.harness.settle();
    };
    await remove();
    const made = request();
    assert.ok(made, 'it was not ready');
    run.harness.edit(made, { status: { conditions: [{ type: 'Signed', status: 'True' }] } });
    await run.harness.settle();
    await remove();
    assert.equal(request(), undefined);
    assert.match(run.harness.ready('a'), /^True AllReady/);
    await run.restart();
    assert.equal(request(), undefined);
  });

  test('a Job that is no longer desired is forgotten, and runs again when it is desired again', async () => {
    const fields = 'when: ${ $not(spec.isOff = true) }';
    const run = await Run.of(text({ fields }));
    await run.done();
    await run.want({ image: 'one', isOff: true });
    assert.deepEqual(run.recorded, []);
    assert.equal(run.metadata.annotations?.[annotation], undefined);
    await run.want({ image: 'one', isOff: false });
    assert.ok(run.job());
  });

  test('under a computed name, the record of the previous Job is removed', async () => {
    const run = await Run.of(text({ name: 'load-${ spec.image }' }));
    run.finish('Complete', 'load-one');
    await run.harness.settle();
    run.expire('load-one');
    await run.harness.settle();
    await run.want({ image: 'two' });
    run.finish('Complete', 'load-two');
    await run.harness.settle();
    assert.deepEqual(run.recorded, ['batch/Job default/load-two']);
  });

  test('elements of a list are done one by one, also in order', async () => {
    const fields = 'forEach: ${ [0..1] }\n      ordered: true';
    const run = await Run.of(
      text({ fields, name: 'load-${ $string($index) }' }).split('  status:')[0],
    );
    assert.deepEqual(run.harness.names('batch/v1', 'Job'), ['load-0']);
    run.finish('Complete', 'load-0');
    await run.harness.settle();
    run.expire('load-0');
    await run.harness.settle();
    assert.deepEqual(run.harness.names('batch/v1', 'Job'), ['load-1']);
    run.finish('Complete', 'load-1');
    await run.harness.settle();
    run.expire('load-1');
    await run.harness.settle();
    assert.deepEqual(run.harness.names('batch/v1', 'Job'), []);
    assert.match(run.harness.ready('a'), /^True AllReady/);
    run.writes();
    await run.restart();
    assert.deepEqual(run.writes(), []);
    assert.deepEqual(run.harness.status('a').childInventory, []);
  });

  test('a template that reads its own object renders the same when that has removed itself', async () => {
    const spec =
      'ttlSecondsAfterFinished: 5\n          backoffLimit: ${ observed.job.status.succeeded ?? 0 }';
    const run = await Run.of(text({ spec }));
    run.finish();
    await run.harness.settle();
    run.finish();
    await run.harness.settle();
    run.expire();
    await run.harness.settle();
    assert.equal(run.job(), undefined);
    await run.restart();
    assert.equal(run.job(), undefined);
  });

  for (const type of ['Recreate', 'OnDelete']) {
    test(`with "updateStrategy: ${type}" a changed intent runs it again`, async () => {
      const run = await Run.of(text({ fields: `updateStrategy: { type: ${type} }` }));
      await run.done();
      await run.restart();
      assert.equal(run.job(), undefined);
      await run.want({ image: 'two' });
      assert.ok(run.job());
    });
  }

  test('an intent that changes while the finished Job exists runs once that has removed itself', async () => {
    const run = await Run.of(text({ fields: 'updateStrategy: { type: OnDelete }' }));
    run.finish();
    await run.harness.settle();
    await run.want({ image: 'two' });
    assert.deepEqual(run.recorded, []);
    run.expire();
    await run.harness.settle();
    assert.deepEqual(
      (run.job()?.spec as { template?: { spec: { containers: unknown[] } } })?.template?.spec
        .containers,
      [{ name: 'main', image: 'two' }],
    );
  });

  test('an edited annotation counts as no record', async () => {
    const run = await Run.of();
    await run.done();
    const found = run.harness.get('apps.example.com/v1', 'PodSet', 'a');
    assert.ok(found);
    const annotations = { ...found.metadata.annotations, [annotation]: '{' };
    run.harness.edit(found, { metadata: { ...found.metadata, annotations } });
    await run.restart();
    assert.ok(run.job());
  });
});
