import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Diagnostic } from '../definition/index.ts';
import type { TextFindings } from '../runtime/index.ts';
import type { Logger } from '../telemetry/index.ts';
import { FindingsTeller } from './findings-teller.ts';

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

function findings(...diagnostics: readonly Diagnostic[]): TextFindings {
  const linesOf = (wanted: Diagnostic['severity']) =>
    diagnostics.filter(({ severity }) => severity === wanted).map(() => `the ${wanted}`);
  const [errors, warnings] = [linesOf('error'), linesOf('warning')];
  return {
    file: 'a.yaml',
    text: 'spec:\n  reeds: []\n',
    diagnostics,
    errors,
    warnings,
    refused: 1,
  };
}

function told(isWatched: boolean, printed: readonly Diagnostic[] = []) {
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
    isWatched,
  };
  const teller = new FindingsTeller({ logger, output, printed });
  return { teller, log, shown };
}

describe('cli/findings-teller', () => {
  test('mistakes are one line of the log for each text, and so is their end', () => {
    const { teller, log, shown } = told(false);
    teller.tell([findings(mistake)]);
    teller.tell([findings()]);
    teller.tell([findings()]);
    assert.deepEqual(log, [
      [
        'warn',
        'File with mistakes, its definitions are refused',
        { file: 'a.yaml', definitions: 1, diagnostics: ['the error'] },
      ],
      ['info', 'File is without mistakes again', { file: 'a.yaml' }],
    ]);
    assert.deepEqual(shown, []);
  });

  test('warnings are told beside them, as what they are', () => {
    const { teller, log } = told(false);
    teller.tell([findings(warning)]);
    const diagnostics = ['the warning'];
    assert.deepEqual(log, [['info', 'File with warnings', { file: 'a.yaml', diagnostics }]]);
  });

  test('whoever looks at a terminal sees the place, but not twice what was printed at the start', () => {
    const { teller, shown } = told(true, [mistake]);
    teller.tell([findings(mistake)]);
    assert.deepEqual(shown, []);
    teller.tell([findings()]);
    teller.tell([findings(mistake)]);
    assert.equal(shown.length, 1);
    assert.match(shown[0] ?? '', /a\.yaml:2:3[\s\S]*reeds: \[\]/);
  });
});
