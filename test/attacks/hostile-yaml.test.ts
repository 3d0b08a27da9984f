import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CliError, exitCode } from '#cli/exit-code.ts';
import { createTerminalOutput } from '#cli/output.ts';
import { createProgram } from '#cli/program.ts';
import { thingDefinition } from '../support/definitions.ts';
import { hostileFiles, hostileValues } from './support/hostile-yaml.ts';

type Files = Readonly<
  Record<'manifest' | 'definition' | 'resource' | 'foreign', string | Uint8Array>
>;

const resource = 'apiVersion: one.example.com/v1\nkind: Thing\nmetadata: { name: one }\n';
const definition = thingDefinition('one', '  children: []\n');

/** A value where manifests, definitions and resources have open maps. */
function filesOf(value: string): Files {
  const map = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\ndata: ${value}\n`;
  const children = `  children:\n    - id: a\n      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: ${value} }\n`;
  const foreign = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: { name: one }
spec:
  schema: { apiVersion: v1alpha1, kind: One, spec: ${value} }
  resources: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: ${value} } }]
---
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: { name: two }
spec: ${value}
`;
  return {
    manifest: map,
    definition: thingDefinition('one', children),
    resource: `${resource}spec: ${value}\n`,
    foreign,
  };
}

const cases: Readonly<Record<string, Files>> = {
  ...Object.fromEntries(
    Object.entries(hostileValues).map(([what, value]) => [what, filesOf(value)]),
  ),
  ...Object.fromEntries(
    Object.entries(hostileFiles).map(([what, file]) => [
      what,
      { manifest: file, definition: file, resource: file, foreign: file },
    ]),
  ),
};

interface Ended {
  readonly code: number | undefined;
  readonly printed: string;
}

/** Runs a command as `main` does; what is no message for people is thrown. */
async function run(...args: readonly string[]): Promise<Ended> {
  let [code, printed]: [number | undefined, string] = [undefined, ''];
  const write = (text: string) => {
    printed += text;
  };
  const program = createProgram({
    output: createTerminalOutput({ stdout: { write }, stderr: { write }, argv: [], env: {} }),
    signal: new AbortController().signal,
    exit: (ended) => {
      code = ended;
    },
  });
  for (const command of [program, ...program.commands]) command.exitOverride();
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { code: exitCode.usage, printed: `${printed}${error.message}\n${error.hint ?? ''}` };
  }
  return { code, printed };
}

describe('attacks/hostile-yaml', () => {
  let folder: string;
  const at = (name: string) => join(folder, 'work', 'here', name);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeostat-yaml-'));
    mkdirSync(at('.'), { recursive: true });
    writeFileSync(at('good-definition.yaml'), definition);
    writeFileSync(at('good-resource.yaml'), `${resource}spec: {}\n`);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** All files below the folder, without those below `out`. */
  const filesOutside = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.startsWith(join('work', 'here', 'out')))
      .sort();

  for (const [what, files] of Object.entries(cases))
    test(`${what}: each command ends with a message and writes nothing elsewhere`, async () => {
      for (const [name, content] of Object.entries(files))
        writeFileSync(at(`${name}.yaml`), content);
      const before = filesOutside();
      const commands: readonly (readonly string[])[] = [
        ['validate', at('definition.yaml')],
        ['render', at('definition.yaml'), at('good-resource.yaml')],
        ['render', at('good-definition.yaml'), at('resource.yaml')],
        [
          'render',
          at('good-definition.yaml'),
          at('good-resource.yaml'),
          '--with',
          at('manifest.yaml'),
        ],
        ['init', 'one', at('out/init'), '--from', at('manifest.yaml')],
        ['import', at('foreign.yaml')],
        ['import', at('foreign.yaml'), '--output', at('out/import')],
      ];
      for (const args of commands) {
        const where = args.join(' ').replaceAll(folder, '');
        const { code, printed } = await run(...args).catch((error: unknown) => {
          throw new Error(where, { cause: error });
        });
        assert.ok(
          code === exitCode.ok || code === exitCode.failure || code === exitCode.usage,
          `${where}: ${code}`,
        );
        if (code !== exitCode.ok) assert.notEqual(printed.trim(), '', where);
        assert.doesNotMatch(printed, /^\s+at .*:\d+:\d+\)?$/m, where);
        assert.doesNotMatch(
          printed,
          /Maximum call stack|is not a function|Cannot read properties|Invalid (?:array|string) length/,
          where,
        );
        const visible = printed.replaceAll(/[\n\t]/g, '');
        assert.doesNotMatch(visible, /[\p{Cc}\p{Bidi_Control}]/u, where);
        assert.deepEqual(filesOutside(), before, where);
        assert.equal(Reflect.get({}, 'polluted'), undefined, where);
      }
    });
});
