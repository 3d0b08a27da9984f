import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Diagnostic } from '#definition';
import type { ParsedManifest } from '#runtime';
import type { Logger } from '#telemetry';
import { FindingsReporter } from './findings-reporter.ts';

const mistake: Diagnostic = {
  severity: 'error',
  code: 'unknown-field',
  message: 'Unknown field "reeds"',
  file: 'a.yaml',
  line: 2,
  column: 3,
  path: '/spec/reeds',
};
const warning: Diagnostic = { ...mistake, severity: 'warning', message: 'Odd' };

function findings(...diagnostics: readonly Diagnostic[]): ParsedManifest {
  const text = 'spec:\n  reeds: []\n';
  return {
    manifest: { file: 'a.yaml', text, origin: { source: 'directory', ref: 'a.yaml' }, sinceMs: 0 },
    documents: [],
    otherErrors: [],
    diagnostics,
    isValid: diagnostics.length === 0,
  };
}

function reported(isTerminal: boolean, printed: readonly Diagnostic[] = []) {
  const log: unknown[] = [];
  const shown: string[] = [];
  const note = (level: string) => (fields: object, message: string) =>
    void log.push([level, message, fields]);
  const logger: Logger = {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
    child: () => logger,
  };
  const output = {
    print: () => {},
    error: (text: string) => void shown.push(text),
    hasColor: false,
    isTerminal,
  };
  const reporter = new FindingsReporter({ logger, output, printed });
  return { reporter, log, shown };
}

describe('cli/findings-reporter', () => {
  test('errors are one line of the log for each text, and so is their end', () => {
    const { reporter, log, shown } = reported(false);
    reporter.report([findings(mistake)]);
    reporter.report([findings()]);
    reporter.report([findings()]);
    assert.deepEqual(log, [
      [
        'warn',
        'File has errors, its definitions are rejected',
        { file: 'a.yaml', definitions: 1, diagnostics: ['a.yaml:2:3: Unknown field "reeds"'] },
      ],
      ['info', 'File has no errors any more', { file: 'a.yaml' }],
    ]);
    assert.deepEqual(shown, []);
  });

  test('warnings are reported beside them, as what they are', () => {
    const { reporter, log } = reported(false);
    reporter.report([findings(warning)]);
    const diagnostics = ['a.yaml:2:3: Odd'];
    assert.deepEqual(log, [['info', 'File has warnings', { file: 'a.yaml', diagnostics }]]);
  });

  test('anyone who looks at a terminal sees the place, but not twice what was printed at the start', () => {
    const { reporter, shown } = reported(true, [mistake]);
    reporter.report([findings(mistake)]);
    assert.deepEqual(shown, []);
    reporter.report([findings()]);
    reporter.report([findings(mistake)]);
    assert.equal(shown.length, 1);
    assert.match(shown[0] ?? '', /a\.yaml:2:3[\s\S]*reeds: \[\]/);
  });
});
