import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Diagnostic } from '#definition';
import { type LogFields, silentLogger } from '#telemetry/roles.ts';
import { DefinitionLog } from './definition-log.ts';

const broken = (message: string): Diagnostic => ({
  ...{ severity: 'error', code: 'breaking-change', message, file: 'a.yaml', path: '/spec' },
  ...{ line: 1, column: 2, hint: 'Allow it' },
});

describe('runtime/running/definition-log', () => {
  test('what breaks is logged once for each revision, however often its CRD is installed', () => {
    const logged: unknown[] = [];
    const warn = (fields: LogFields) => logged.push(fields.diagnostics);
    const log = new DefinitionLog({ ...silentLogger, warn });
    log.breakingChange('a', [broken('One')]);
    log.breakingChange('a', [broken('One'), broken('Two')]);
    log.breakingChange('a', [broken('Two')]);
    log.breakingChange('b', [broken('One')]);
    assert.deepEqual(logged, [['a.yaml:1:2: One'], ['a.yaml:1:2: Two'], ['a.yaml:1:2: One']]);
  });
});
