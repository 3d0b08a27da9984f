import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Diagnostic } from '#definition';
import { githubReport, jsonReport, sarifReport } from './diagnostic-formats.ts';

const diagnostics: readonly Diagnostic[] = [
  {
    severity: 'error',
    code: 'unknown-field',
    message: 'Unknown field "sise"',
    hint: 'Did you mean 100% "size"?',
    file: 'my,operators/a.yaml',
    line: 3,
    column: 7,
    path: '/spec/sise',
  },
  {
    severity: 'warning',
    code: 'missing-field',
    message: 'The file contains no definition',
    file: 'b.yaml',
    line: 1,
    column: 1,
    path: '',
  },
];
const result = {
  diagnostics,
  definitions: [{ file: 'c.yaml', name: 'c', revision: '0123456789' }],
};

describe('cli: formats of diagnostics', () => {
  test('json has the diagnostics as they are, and the valid definitions', () => {
    assert.deepEqual(JSON.parse(jsonReport(result)), result);
  });

  test('sarif has one result for each diagnostic, with its rule and its place', () => {
    const { version, runs } = JSON.parse(sarifReport(result));
    assert.equal(version, '2.1.0');
    const [{ tool, results }] = runs;
    assert.deepEqual(tool.driver.rules, [{ id: 'missing-field' }, { id: 'unknown-field' }]);
    assert.equal(results.length, 2);
    assert.deepEqual(results[0], {
      ruleId: 'unknown-field',
      ruleIndex: 1,
      level: 'error',
      message: { text: 'Unknown field "sise"\nHint: Did you mean 100% "size"?' },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'my%2Coperators/a.yaml' },
            region: { startLine: 3, startColumn: 7 },
          },
        },
      ],
    });
  });

  for (const [file, uri, path] of [
    ['./ops dir/ü%.yaml', 'ops%20dir/%C3%BC%25.yaml', 'ops dir/ü%25.yaml'],
    ['/repo/ops dir/a.yaml', 'ops%20dir/a.yaml', 'ops dir/a.yaml'],
    ['/other/ops dir/a.yaml', 'file:///other/ops%20dir/a.yaml', '/other/ops dir/a.yaml'],
    ['../a.yaml', '../a.yaml', '../a.yaml'],
    ['<stdin>', '%3Cstdin%3E', '<stdin>'],
  ] as const) {
    test(`sarif names ${file} by a URI, github by a path, both relative where it is below the folder`, () => {
      const [first] = diagnostics;
      assert.ok(first);
      const one = { diagnostics: [{ ...first, file }], definitions: [] };
      const [run] = JSON.parse(sarifReport(one, '/repo')).runs;
      const [{ locations }] = run.results;
      assert.equal(locations[0].physicalLocation.artifactLocation.uri, uri);
      assert.ok(githubReport(one, '/repo').startsWith(`::error file=${path},line=3,`));
    });
  }

  test('github has a command for each diagnostic, with the characters escaped that end a part', () => {
    assert.equal(
      githubReport(result),
      [
        '::error file=my%2Coperators/a.yaml,line=3,col=7,title=unknown-field::Unknown field "sise"%0AHint: Did you mean 100%25 "size"?',
        '::warning file=b.yaml,line=1,col=1,title=missing-field::The file contains no definition',
      ].join('\n'),
    );
    assert.equal(githubReport({ diagnostics: [], definitions: [] }), '');
  });
});
