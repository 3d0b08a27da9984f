import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import {
  checkDefinitions,
  createManifestCheck,
  type DefinitionManifest,
} from '../../check/index.ts';
import { bundledSchemas } from '../../compile/index.ts';
import { type OperatorFuzz, parseOperatorFuzz, printOrderedYaml } from '../../definition/index.ts';
import { loadSamples } from '../../dev/index.ts';
import { fileReason } from '../../runtime/index.ts';
import { type FuzzResult, fuzz, fuzzTarget, reproductionOf } from '../../simulation/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';

export interface FuzzFlags {
  /** Number of histories for each definition. */
  readonly fuzz: number;
  readonly seed: number;
  /** Only definitions whose name contains this. */
  readonly filter?: string;
}

/**
 * `homeostat test PATH... --fuzz N`: creates random resources of each definition, changes and deletes them, and checks what must hold for
 * every definition.
 * @returns the exit code: 1 when a history fails or a file has errors
 * @throws CliError when a file cannot be read, or there is no definition
 */
export async function fuzzDefinitions(
  paths: readonly string[],
  flags: FuzzFlags,
  output: Output,
): Promise<number> {
  const definitions = await loadManifests(paths);
  const schemas = bundledSchemas();
  const check = createManifestCheck(schemas);
  const { accepted, diagnostics } = checkDefinitions(definitions, { schemas, check });
  printDiagnostics(
    diagnostics.filter(({ severity }) => severity === 'error'),
    definitions,
    output,
  );
  const limits = await loadLimits(paths, output);
  if (accepted.length < definitions.length || limits === undefined) return exitCode.failure;
  const samples = await samplesBeside(definitions, output);
  let hasFailed = false;
  for (const { located } of accepted) {
    const { name } = located.definition;
    if (!name.includes(flags.filter ?? '')) continue;
    const {
      given = [],
      values = {},
      skip = [],
    } = limits.find(({ definition }) => definition === name) ?? {};
    const target = fuzzTarget(located, samples, skip);
    const { fuzz: runs, seed } = flags;
    const onRun = (done: number) => output.progress?.(`${name}: history ${done} of ${runs}`);
    const result = await fuzz({
      ...{ definitions, check, target, given, samples, values, runs, seed },
      onRun,
    });
    const { failure } = result;
    for (const line of resultLines(name, result, flags)) output.print(line);
    if (failure !== undefined) {
      const definition = relative('.', located.source.file);
      const { history } = failure;
      output.print(
        printOrderedYaml(reproductionOf({ target, failure, history, given, definition })),
      );
    }
    hasFailed ||= failure !== undefined || result.rejected === result.runs;
  }
  return hasFailed ? exitCode.failure : exitCode.ok;
}

function resultLines(
  name: string,
  { runs, rejected, failure }: FuzzResult,
  { seed }: FuzzFlags,
): readonly string[] {
  if (rejected === runs)
    return [
      `FAIL ${name}: the API server rejects every random resource (${runs})`,
      '  hint: Add a document "kind: OperatorFuzz" with "values" that the kind accepts',
    ];
  const done = runs - rejected;
  const count = `${done} ${done === 1 ? 'history' : 'histories'}${rejected === 0 ? '' : ` (the API server rejected ${rejected} other resources)`}`;
  if (failure === undefined) return [`PASS ${name}: ${count}`];
  return [
    `FAIL ${name}: ${failure.message}`,
    `  found after ${count}; --seed ${seed} finds it again. This test shows it:`,
    '',
  ];
}

/** The samples in the folders `samples` beside the definitions. */
async function samplesBeside(
  definitions: readonly DefinitionManifest[],
  output: Output,
): Promise<readonly KubeObject[]> {
  const folders = new Set(definitions.map(({ file }) => join(dirname(file), 'samples')));
  const files = [];
  for (const folder of folders)
    files.push(...(await loadSamples(folder, (message) => output.error(`homeostat: ${message}`))));
  return files.flatMap(({ objects }) => objects);
}

/** The documents `OperatorFuzz` below the folders. Undefined: one has errors, which are printed. */
async function loadLimits(
  paths: readonly string[],
  output: Output,
): Promise<readonly OperatorFuzz[] | undefined> {
  const limits: OperatorFuzz[] = [];
  let hasErrors = false;
  for (const file of (await Promise.all(paths.map(yamlFiles))).flat()) {
    const text = await readFile(file, 'utf8');
    if (!text.includes('OperatorFuzz')) continue;
    const parsed = parseOperatorFuzz(text, file);
    printDiagnostics(parsed.diagnostics, [{ file, text }], output);
    hasErrors ||= parsed.diagnostics.some(({ severity }) => severity === 'error');
    limits.push(...parsed.limits);
  }
  return hasErrors ? undefined : limits;
}

async function yamlFiles(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = await readdir(path, { withFileTypes: true, recursive: true });
    return entries
      .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort();
  } catch (error) {
    throw new CliError(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
  }
}
