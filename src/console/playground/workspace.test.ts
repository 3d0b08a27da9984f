import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Example } from '#web/browser/index.ts';
import { settle } from '../../../test/support/fake-clock.ts';
import type { ApplyReport } from './messages.ts';
import { Workspace, type WorkspaceOptions } from './workspace.ts';

const example = (name: string): Example => ({
  group: 'operators',
  name,
  title: `The ${name}`,
  files: [
    { file: `${name}.yaml`, text: 'definition' },
    { file: `samples/${name}.yaml`, text: 'sample' },
  ],
});
const report: ApplyReport = { done: ['Created'], problems: [], resources: [], definitions: ['a'] };

describe('playground/workspace', () => {
  function workspaceOn(change: Partial<WorkspaceOptions> = {}) {
    const applied: unknown[] = [];
    const events: string[] = [];
    let answer = () => Promise.resolve<unknown>(report);
    const workspace = new Workspace({
      backend: {
        isBusy: false,
        ask: <Answer>(question: string, body: unknown) => {
          if (question === 'apply') applied.push(body);
          return answer() as Promise<Answer>;
        },
        restart: () => void events.push('restart'),
      },
      address: 'https://example.com/play/',
      loadExamples: async () => [example('first'), example('second')],
      firstExample: 'first',
      onChange: () => undefined,
      onRestart: () => void events.push('pages'),
      onOpened: () => void events.push('opened'),
      ...change,
    });
    const answerWith = (next: typeof answer) => {
      answer = next;
    };
    return { workspace, applied, events, answerWith };
  }

  test('without a link it opens the first example, applies it, and shows the result once', async () => {
    const { workspace, applied, events } = workspaceOn();
    await workspace.start('');
    await settle();
    assert.equal(workspace.state.title, 'first');
    assert.deepEqual(applied, [{ files: example('first').files }]);
    assert.deepEqual(events, ['opened']);
    assert.equal(workspace.hasEdits, false);
    workspace.edit('first.yaml', 'edited');
    assert.equal(workspace.hasEdits, true);
    assert.deepEqual(
      workspace.state.files.map(({ text, applied: runs }) => text === runs),
      [false, true],
    );
    await workspace.apply();
    // What runs is lost with the page, too.
    assert.equal(workspace.hasEdits, true);
    assert.deepEqual(
      workspace.state.files.map(({ applied: runs }) => runs),
      ['edited', 'sample'],
    );
    assert.deepEqual(events, ['opened']);
  });

  test('a link of its own files opens them as they were edited', async () => {
    const { workspace } = workspaceOn();
    await workspace.start('');
    workspace.edit('first.yaml', 'edited');
    const link = await workspace.shareLink();
    assert.ok(link.startsWith('https://example.com/play/#/share/1/'));
    const { workspace: other, applied } = workspaceOn();
    await other.start(new URL(link).hash);
    assert.equal(other.state.title, 'a shared link');
    assert.deepEqual(applied, [
      {
        files: [
          { file: 'first.yaml', text: 'edited' },
          { file: 'samples/first.yaml', text: 'sample' },
        ],
      },
    ]);
  });

  test('a broken link is reported, and the first example is open', async () => {
    const { workspace } = workspaceOn();
    await workspace.start('#/share/1/abc');
    await settle();
    assert.equal(workspace.state.problem?.title, 'The link cannot be opened');
    assert.equal(workspace.state.title, 'first');
  });

  test('a reset opens the files as they were in a new sandbox', async () => {
    const { workspace, events, applied } = workspaceOn();
    await workspace.start('');
    await settle();
    workspace.edit('first.yaml', 'edited');
    workspace.reset();
    await settle();
    assert.deepEqual(
      workspace.state.files.map(({ text }) => text),
      ['definition', 'sample'],
    );
    assert.deepEqual(events, ['opened', 'restart', 'pages', 'opened']);
    assert.equal(applied.length, 2);
  });

  test('a stop leaves the edited files, and applies nothing', async () => {
    const { workspace, applied, answerWith } = workspaceOn();
    answerWith(() => new Promise(() => undefined));
    await workspace.start('');
    await settle();
    assert.equal(workspace.state.isApplying, true);
    workspace.edit('first.yaml', 'endless');
    workspace.stop();
    await settle();
    assert.equal(workspace.state.isApplying, false);
    assert.deepEqual(
      workspace.state.files.map(({ text, applied: runs }) => [text, runs]),
      [
        ['endless', undefined],
        ['sample', undefined],
      ],
    );
    assert.equal(applied.length, 1);
  });

  test('a failed apply is a problem, and the files count as not applied', async () => {
    const { workspace, answerWith } = workspaceOn();
    answerWith(() => Promise.reject(new Error('no')));
    await workspace.start('');
    await settle();
    assert.deepEqual(workspace.state.applied, { done: [], problems: ['no'] });
    assert.equal(workspace.state.files[0]?.applied, undefined);
  });

  test('examples that cannot be loaded are reported, and loaded again when they are asked for', async () => {
    let isThere = false;
    const { workspace } = workspaceOn({
      loadExamples: async () => {
        if (!isThere) throw new Error('status 404');
        return [example('first')];
      },
    });
    await workspace.start('');
    assert.equal(workspace.state.problem?.text, 'status 404');
    isThere = true;
    assert.equal((await workspace.examples()).length, 1);
  });
});
