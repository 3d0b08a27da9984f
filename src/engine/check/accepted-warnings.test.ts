import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { bundledSchemas } from '#compile';
import {
  arrangeDiagnostics,
  type Diagnostic,
  diagnosticCodes,
  namedPath,
  parseYamlDocuments,
  printYaml,
  warningCodes,
} from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { createManifestCheck } from './check-manifest.ts';

const root = new URL('../../../', import.meta.url).pathname;
const check = createManifestCheck(bundledSchemas());

function diagnosticsOf(text: string): readonly Diagnostic[] {
  return arrangeDiagnostics(check({ file: 'a.yaml', text }).diagnostics);
}

const children = `  children:
    - id: map
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map }, data: { size: "\${ $string(spec.a != 1) }", image: "\${ $string(spec.c != 1) }" } }
    - id: other
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: other }, data: { mode: "\${ $string(spec.b != 1) }" } }
`;
const entry = (code: string, path?: string, reason = 'It is right') =>
  `    - { code: ${code}, ${path === undefined ? '' : `path: "${path}", `}reason: "${reason}" }\n`;
const text = (...entries: readonly string[]) =>
  thingDefinition('thing', `${children}  acceptedWarnings:\n${entries.join('')}`);

/** `path: severity[code] message. Hint` */
function found(...entries: readonly string[]): readonly string[] {
  return diagnosticsOf(text(...entries)).map(
    ({ severity, code, message, hint, path }) =>
      `${path}: ${severity}[${code}] ${message}${hint === undefined ? '' : `. ${hint}`}`,
  );
}

const places = [
  '/spec/children/0/template/data/size',
  '/spec/children/0/template/data/image',
  '/spec/children/1/template/data/mode',
];
const remaining = (...entries: readonly string[]) =>
  diagnosticsOf(text(...entries)).map(({ path }) => path);

describe('check/accepted warnings', () => {
  test('without entries there are three warnings', () =>
    assert.deepEqual(
      diagnosticsOf(thingDefinition('thing', children)).map(({ path }) => path),
      places,
    ));

  for (const [what, path, expected] of [
    ['all of the definition', undefined, []],
    ['those of a child, by its id', '/spec/children/map', [places[2]]],
    ['those of a child, by its position', '/spec/children/1', places.slice(0, 2)],
    ['one', '/spec/children/map/template/data/size', places.slice(1)],
  ] as const)
    test(`an entry accepts ${what}`, () =>
      assert.deepEqual(remaining(entry('suspicious-expression', path)), expected));

  test('a warning that two entries accept makes both of them useful', () =>
    assert.deepEqual(
      remaining(
        entry('suspicious-expression'),
        entry('suspicious-expression', '/spec/children/map'),
      ),
      [],
    ));

  test('warnings of the YAML text and of the CRD can be accepted, too', () => {
    const schema =
      ' { type: object, properties: { spec: { type: object, properties: { mode: { type: integer, default: 0o644 } } } } }';
    const body = (entries: string) =>
      thingDefinition('thing', `  children: []\n  vars: { mode: 0644 }\n${entries}`, { schema });
    const warnings = diagnosticsOf(body(''));
    assert.deepEqual([...new Set(warnings.map(({ code }) => code))], ['ambiguous-yaml']);
    assert.deepEqual(diagnosticsOf(body(`  acceptedWarnings:\n${entry('ambiguous-yaml')}`)), []);
  });

  test('an entry that accepts nothing is a warning with its place', () =>
    assert.deepEqual(
      found(
        entry('suspicious-expression'),
        entry('duplicate-id'),
        entry('optional-parent', '/spec/children/map'),
        entry('missing-field', '/spec/children/mpa/template'),
        entry('missing-field', '/spec/nothing'),
      ),
      [
        '/spec/acceptedWarnings/1: warning[unused-acceptance] There is no warning "duplicate-id". Remove this entry',
        '/spec/acceptedWarnings/2: warning[unused-acceptance] There is no warning "optional-parent" at "/spec/children/map". Remove this entry',
        '/spec/acceptedWarnings/3/path: warning[unused-acceptance] The definition has no "/spec/children/mpa/template". Did you mean "/spec/children/map/template"?',
        '/spec/acceptedWarnings/4/path: warning[unused-acceptance] The definition has no "/spec/nothing"',
      ],
    ));

  test('warnings about entries cannot be accepted', () =>
    assert.deepEqual(
      found(
        entry('suspicious-expression'),
        entry('suspicous-expression'),
        entry('cycle'),
        entry('unused-acceptance'),
        entry('unknown-name', '/spec/acceptedWarnings'),
      ).map((line) => line.replace(/Known codes.*/, 'Known codes')),
      [
        '/spec/acceptedWarnings/1/code: warning[unknown-name] There is no warning "suspicous-expression". Did you mean "suspicious-expression"?',
        '/spec/acceptedWarnings/2/code: warning[unknown-name] "cycle" cannot be accepted: no warning about a definition has this code. Known codes',
        '/spec/acceptedWarnings/3/code: warning[unknown-name] "unused-acceptance" cannot be accepted: no warning about a definition has this code. Known codes',
        '/spec/acceptedWarnings/4: warning[unused-acceptance] There is no warning "unknown-name" at "/spec/acceptedWarnings". Remove this entry',
      ],
    ));

  test('an entry without a reason, or with a path that is no pointer, is an error', () =>
    assert.deepEqual(
      found(
        entry('suspicious-expression', undefined, ' '),
        '    - { code: suspicious-expression }\n',
        entry('suspicious-expression', 'spec.children[0].template'),
      ).filter((line) => line.includes('error')),
      [
        '/spec/acceptedWarnings/0/reason: error[invalid-value] An accepted warning needs a reason. Write why the definition is right as it is',
        '/spec/acceptedWarnings/1/reason: error[missing-field] Missing field "reason"',
        '/spec/acceptedWarnings/2/path: error[invalid-value] Expected a JSON pointer, found "spec.children[0].template". Write "/spec/children/0/template"',
      ],
    ));

  test('errors cannot be accepted, and hide entries that accept nothing', () => {
    const broken = text(
      entry('unknown-path'),
      entry('suspicious-expression'),
      entry('duplicate-id'),
    ).replace('spec.b != 1', 'spec.b +');
    assert.deepEqual(
      diagnosticsOf(broken).map(({ severity, code }) => `${severity} ${code}`),
      ['error expression-syntax', 'warning unknown-name'],
    );
  });

  test('an entry is no part of the revision', () => {
    const revisionOf = (manifest: string) =>
      check({ file: 'a.yaml', text: manifest }).documents[0]?.located?.definition.revision;
    const revision = revisionOf(thingDefinition('thing', children));
    assert.ok(revision);
    assert.equal(revisionOf(text(entry('suspicious-expression'))), revision);
  });

  test('every warning of all fixtures can be accepted at its place', () => {
    const accepted = new Set<string>();
    for (const file of globSync('test/fixtures/invalid*/*.yaml', { cwd: root })) {
      for (const document of documentsOf(file)) {
        const warnings = diagnosticsOf(printYaml(document)).filter(isWarning);
        const entries = warnings.map(({ code, path }) => ({
          code,
          path: namedPath(document, path),
          reason: 'It is right',
        }));
        if (entries.length === 0) continue;
        for (const { code } of entries) accepted.add(code);
        const spec = { ...(document.spec as JsonObject), acceptedWarnings: entries };
        const left = diagnosticsOf(printYaml({ ...document, spec })).filter(isWarning);
        assert.deepEqual(
          left.map(({ path, message }) => `${file} ${path} ${message}`),
          [],
        );
      }
    }
    // Printing a definition removes what YAML 1.1 reads differently.
    const expected = warningCodes.filter((code) => code !== 'ambiguous-yaml');
    assert.deepEqual([...accepted].sort(), expected);
  });

  test('the code of every warning in the source is one that can be accepted', () => {
    const sources = globSync('src/engine/{definition,compile}/**/*.ts', { cwd: root })
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => readFileSync(root + file, 'utf8'));
    const codes = sources.flatMap((source) =>
      [...source.matchAll(/severity: 'warning',\s*code: '([a-z-]+)'/g)].map(([, code]) => code),
    );
    const expected = [...warningCodes, 'unused-acceptance'];
    assert.deepEqual([...new Set(codes)].sort(), expected);
    assert.ok(expected.every((code) => diagnosticCodes.some((known) => known === code)));
  });
});

function isWarning({ severity }: Diagnostic): boolean {
  return severity === 'warning';
}

/** The definitions of a fixture that can be parsed. */
function documentsOf(file: string): readonly JsonObject[] {
  try {
    return parseYamlDocuments(readFileSync(root + file, 'utf8')).filter(
      (document): document is JsonObject => isJsonObject(document) && isJsonObject(document.spec),
    );
  } catch {
    return [];
  }
}
