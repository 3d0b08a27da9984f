import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { junitReport } from './report.ts';
import type { TestResult } from './run-test.ts';

const passed: TestResult = { file: 'a b/ü.yaml', name: 'a', steps: 1, failures: [], tookMs: 5_000 };

describe('simulation/testing: JUnit reports', () => {
  test('count failed and skipped tests, and name the file of each', () => {
    const failure = { pointer: '', message: 'It is "wrong" & <bad>', mismatches: [] };
    const report = junitReport([
      passed,
      { ...passed, name: 'b', failures: [failure] },
      { ...passed, name: 'c', skipped: 'needs a sandbox' },
    ]);
    assert.deepEqual(report.split('\n'), [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites tests="3" failures="1" errors="0" skipped="1">',
      '  <testsuite name="homeostat" tests="3" failures="1" errors="0" skipped="1">',
      '    <testcase classname="a b/ü.yaml" name="a" file="a b/ü.yaml"/>',
      '    <testcase classname="a b/ü.yaml" name="b" file="a b/ü.yaml">',
      '      <failure message="It is &quot;wrong&quot; &amp; &lt;bad&gt;">    It is &quot;wrong&quot; &amp; &lt;bad&gt;</failure>',
      '    </testcase>',
      '    <testcase classname="a b/ü.yaml" name="c" file="a b/ü.yaml">',
      '      <skipped message="needs a sandbox"/>',
      '    </testcase>',
      '  </testsuite>',
      '</testsuites>',
      '',
    ]);
  });

  test('have the time of tests on a real cluster', () => {
    assert.match(
      junitReport([{ ...passed, isReal: true }]),
      / file="a b\/ü\.yaml" time="5\.000"\/>/,
    );
  });

  test('contain only characters that XML permits', () => {
    const name = 'bell \u0007, escape \u001b, half \ud83d, whole \ud83d\ude00, tab \t';
    const report = junitReport([{ ...passed, name }]);
    assert.ok(
      report.includes('name="bell \ufffd, escape \ufffd, half \ufffd, whole \ud83d\ude00, tab \t"'),
      report,
    );
  });
});
