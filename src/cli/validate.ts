import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { checkedOnce, createManifestCheck, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import { arrangeDiagnostics } from '#definition';
import { DefinitionValidator } from '#testing';
import { createSystemClock } from '#util/clock.ts';
import { validDefinition } from './check-jobs.ts';
import type { CheckedHttpFiles } from './commands/check-http-files.ts';
import {
  githubReport,
  jsonReport,
  sarifReport,
  type ValidationResult,
} from './diagnostic-formats.ts';
import { CliError, exitCode } from './exit-code.ts';
import { namesHttpKind } from './http-files.ts';
import { loadManifests, standardInput } from './load-manifests.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';

export interface ValidateFlags {
  readonly output: 'text' | 'json' | 'sarif' | 'github';
  /** Checks again when a file changes, until the signal aborts. @default false */
  readonly watch?: boolean;
}

/** With fewer files the start of worker threads takes longer than they save. */
const worthWorkers = 200;

const reports = { json: jsonReport, sarif: sarifReport, github: githubReport } as const;

/**
 * `homeostat validate PATH...`: checks definitions without a cluster, and the samples and tests beside those of a folder, and prints every
 * error.
 * @returns the exit code: 1 when there is an error or nothing to check, 0 with warnings only, and after a watch.
 */
export async function validate(
  paths: readonly string[],
  flags: ValidateFlags,
  output: Output,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  if (flags.watch !== true) return (await validateOnce(paths, flags, output, signal)).code;
  if (paths.includes(standardInput.path))
    throw new CliError('"--watch" needs files, and standard input is none');
  const { printedBy, watchFiles } = await import('./commands/watch-files.ts');
  let before: string | undefined;
  let files: readonly string[] = [];
  const run = async () => {
    const text = await printedBy(output, async (collecting) => {
      files = (await validateOnce(paths, flags, collecting, signal)).files;
    });
    if (text !== before && !signal.aborted) {
      output.print(text);
      output.print('Waiting for changes; Ctrl-C ends');
    }
    before = text;
    return [...paths, ...paths.map(dirname), ...files.map(dirname)];
  };
  await watchFiles({ clock: createSystemClock(), output, run }, signal);
  return exitCode.ok;
}

interface Validated {
  readonly code: number;
  /** All files that were read. */
  readonly files: readonly string[];
}

async function validateOnce(
  paths: readonly string[],
  { output: format }: ValidateFlags,
  output: Output,
  signal: AbortSignal,
): Promise<Validated> {
  const manifests = await loadManifests(paths);
  const found = await checkAll(paths, manifests, { output, signal });
  if (signal.aborted) {
    output.error('homeostat: Stopped before all files were checked');
    return { code: exitCode.failure, files: [] };
  }
  const files = [...manifests, ...found.files].map(({ file }) => file);
  const { definitions, objects } = found;
  const diagnostics = arrangeDiagnostics(found.diagnostics);
  const hasErrors = diagnostics.some(({ severity }) => severity === 'error');
  if (format === 'text') {
    printDiagnostics(diagnostics, [...manifests, ...found.files], output);
    printValid(definitions, output);
    for (const { file, title } of objects) output.print(`${file}: ${title} is valid`);
  } else {
    const report = reports[format]({ diagnostics, definitions });
    if (report !== '') output.print(report);
  }
  const isEmpty = definitions.length === 0 && objects.length === 0;
  if (!hasErrors && isEmpty) output.error('homeostat: There is no definition to check');
  const isValid = !hasErrors && !isEmpty;
  return { code: isValid ? exitCode.ok : exitCode.failure, files };
}

interface Checked extends ValidationResult {
  /** Valid objects behind HTTP, of files without definitions. */
  readonly objects: CheckedHttpFiles['valid'];
  /** Files beside the definitions. */
  readonly files: readonly DefinitionManifest[];
}

interface CheckOptions {
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Modules for objects, samples and worker threads are loaded where they are needed. */
async function checkAll(
  paths: readonly string[],
  manifests: readonly DefinitionManifest[],
  options: CheckOptions,
): Promise<Checked> {
  if (!manifests.some(namesHttpKind)) return checkDefinitionFiles(paths, manifests, options);
  const { checkHttpFiles } = await import('./commands/check-http-files.ts');
  const http = checkHttpFiles(manifests);
  const others = manifests.filter(({ file }) => !http.files.has(file));
  const found = await checkDefinitionFiles(paths, others, options);
  return {
    ...found,
    objects: http.valid,
    diagnostics: [...found.diagnostics, ...http.diagnostics],
  };
}

async function checkDefinitionFiles(
  paths: readonly string[],
  manifests: readonly DefinitionManifest[],
  { output, signal }: CheckOptions,
): Promise<Checked> {
  const folders = await foldersWithCompanions(paths);
  if (folders.length === 0 && manifests.length >= worthWorkers && availableParallelism() > 1) {
    const { checkInWorkers } = await import('./check-in-workers.ts');
    const found = await checkInWorkers(manifests, signal);
    if (found !== undefined) return { ...found, objects: [], files: [] };
    if (signal.aborted) return { definitions: [], diagnostics: [], objects: [], files: [] };
  }
  const check = checkedOnce(createManifestCheck(bundledSchemas()));
  const validator = new DefinitionValidator(check);
  const { accepted, diagnostics } = validator.validate(manifests, (file) =>
    output.progress?.(file),
  );
  validator.close();
  const definitions = accepted.map(validDefinition);
  if (folders.length === 0) return { definitions, diagnostics, objects: [], files: [] };
  const { checkCompanions } = await import('./commands/check-companions.ts');
  const beside = await checkCompanions({ folders, manifests, accepted, check });
  const failing = new Set(
    beside.diagnostics.filter(({ severity }) => severity === 'error').map(({ file }) => file),
  );
  return {
    definitions: definitions.filter(({ file }) => !failing.has(file)),
    diagnostics: [...diagnostics, ...beside.diagnostics],
    objects: [],
    files: beside.files,
  };
}

/** The folders of the command line that have samples or tests. */
async function foldersWithCompanions(paths: readonly string[]): Promise<readonly string[]> {
  const exists = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );
  const found = await Promise.all(
    paths.map(async (path) => {
      const places = ['samples', 'tests'].map((name) => exists(join(path, name)));
      return (await Promise.all(places)).includes(true) ? [path] : [];
    }),
  );
  return found.flat();
}

function printValid(definitions: ValidationResult['definitions'], output: Output): void {
  for (const { file, name, revision } of definitions)
    output.print(`${file}: definition "${name}" is valid (revision ${revision})`);
}
