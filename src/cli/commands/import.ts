import { join } from 'node:path';
import { checkDefinitions, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import { printOrderedYaml } from '#definition';
import {
  type Construct,
  type ImportedFiles,
  type ImportResult,
  importedFormats,
  importFiles,
  type SourceDocument,
  UnknownKinds,
} from '#import';
import { renderResource } from '#render';
import { didYouMean } from '#util/did-you-mean.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { type NewFile, writeNewFiles } from './new-files.ts';
import { tableLines } from './print-table.ts';
import { renderedDifferences } from './rendered-differences.ts';

export interface ImportFlags {
  /** A folder, or a file that ends in `.yaml` or `.yml`. @default standard output */
  readonly output?: string;
  /** Files with answers of hooks. */
  readonly syncResponse?: readonly string[];
}

/**
 * `homeostat import FILE...`: converts definitions of other tools, and prints what became of each construct. With a folder as output, the
 * resources in the files become samples, and the command shows what the definition creates for them.
 * @returns the exit code: 1 when a construct is left out, or when a definition has errors
 * @throws CliError when there is nothing to convert, and when a file exists or cannot be written: then no file is written.
 */
export async function importDefinitions(
  paths: readonly string[],
  { output: target, syncResponse = [] }: ImportFlags,
  output: Output,
): Promise<number> {
  const sources = await loadManifests(paths, { mayBeEmpty: true });
  const answers = await loadManifests(syncResponse, { mayBeEmpty: true });
  const files = importFiles(sources, { answers });
  printDiagnostics([...files.syntaxErrors, ...files.warnings], [...sources, ...answers], output);
  if (files.syntaxErrors.length > 0) return exitCode.failure;
  if (files.results.length === 0)
    throw new CliError(`There is nothing to import in ${paths.join(', ')}`, {
      hint: `Formats: ${importedFormats().join(', ')}`,
    });
  const created = filesFor(files.results, target);
  await writeNewFiles(created);
  // The report must not be in the output that is piped to a file.
  const print = (line: string) => (target === undefined ? output.error(line) : output.print(line));
  if (target === undefined) output.print(definitionsText(files.results).trimEnd());
  for (const { file } of created) print(`Created ${file}`);
  printReport(files, print);
  const codes = [
    ...files.results.map(({ constructs }) =>
      constructs.some(({ outcome }) => outcome === 'left out') ? exitCode.failure : exitCode.ok,
    ),
    await checkResults(files.results, created, { output, print }),
  ];
  return codes.includes(exitCode.failure) ? exitCode.failure : exitCode.ok;
}

/** The files to create: none for standard output, one for all definitions, or one for each and its samples. */
function filesFor(
  results: readonly ImportResult[],
  target: string | undefined,
): readonly NewFile[] {
  if (target === undefined) return [];
  if (/\.ya?ml$/.test(target)) return [{ file: target, text: definitionsText(results) }];
  return results.flatMap(({ file, format, name: of, imported, samples }) => {
    if (imported === undefined) return [];
    const name = `${imported.name}.yaml`;
    const source = `${file}: ${format} "${of}"`;
    const sample = { file: join(target, 'samples', name), text: documentsText(samples), source };
    return [
      { file: join(target, name), text: imported.text, source },
      ...(samples.length > 0 ? [sample] : []),
    ];
  });
}

function definitionsText(results: readonly ImportResult[]): string {
  return results.flatMap(({ imported }) => imported?.text ?? []).join('---\n');
}

function documentsText(objects: readonly KubeObject[]): string {
  return objects.map(printOrderedYaml).join('---\n');
}

type Print = (line: string) => void;

function printReport({ results, ignored, unusedAnswers }: ImportedFiles, print: Print): void {
  for (const { file, format, name, constructs } of results) {
    print('');
    print(`${file}: ${format} "${name}"`);
    const rows = constructs.map((construct) => [
      `${construct.file === file ? '' : `${construct.file}:`}${construct.line}:${construct.column}`,
      construct.name,
      resultOf(construct),
    ]);
    for (const line of tableLines(['PLACE', 'CONSTRUCT', 'RESULT'], rows)) print(line);
    const count = (wanted: string) => constructs.filter(({ outcome }) => outcome === wanted).length;
    print(
      `${constructs.length} ${constructs.length === 1 ? 'construct' : 'constructs'}: ${count('converted')} converted, ${count('approximated')} approximated, ${count('left out')} left out`,
    );
  }
  const placeOf = ({ source }: SourceDocument) => {
    const { line, column } = source.valueAt('');
    return `${source.file}:${line}:${column}`;
  };
  const kinds = importedFormats().map((format) => format.split(' ').at(-1) ?? '');
  for (const document of ignored) {
    const kind = String(document.value.kind);
    const hint = didYouMean(kind, kinds);
    print(
      `Note: ${placeOf(document)}: ${kind} is not imported${hint === undefined ? '' : `. ${hint}`}`,
    );
  }
  for (const document of unusedAnswers)
    print(
      `Note: ${placeOf(document)}: This is no recorded answer for a parent of an imported controller. Expected "request" and "response", or a request and then its response`,
    );
}

/** What became of a construct, and what it does in the source. */
function resultOf({ outcome, detail, effect }: Construct): string {
  const text = detail === '' ? outcome : `${outcome}: ${detail}`;
  if (effect === undefined) return text;
  return detail === '' ? `${text}: ${effect}` : `${text}. It ${effect}`;
}

interface Printers {
  readonly output: Output;
  readonly print: Print;
}

/** Checks the definitions as `validate` does, and runs the resources that came with them. */
async function checkResults(
  results: readonly ImportResult[],
  created: readonly DefinitionManifest[],
  { output, print }: Printers,
): Promise<number> {
  const manifests = results.flatMap(({ imported }): readonly DefinitionManifest[] => {
    if (imported === undefined) return [];
    const { text, name } = imported;
    const file = created.find((each) => each.text === text)?.file ?? `${name}.yaml`;
    return [{ file, text }];
  });
  const { diagnostics } = checkDefinitions(manifests, { schemas: bundledSchemas() });
  printDiagnostics(diagnostics, manifests, output);
  if (diagnostics.some(({ severity }) => severity === 'error')) return exitCode.failure;
  for (const { samples, imported } of results)
    for (const resource of samples)
      print(
        await trial(manifests, resource, {
          results,
          given: imported?.given ?? [],
          recorded: recordedFor(resource, imported),
        }),
      );
  return exitCode.ok;
}

function recordedFor(
  { metadata }: KubeObject,
  imported: ImportResult['imported'],
): readonly KubeObject[] | undefined {
  return imported?.recorded?.find(({ parent }) => parent.metadata.name === metadata.name)?.objects;
}

interface TrialOptions {
  readonly results: readonly ImportResult[];
  readonly given: readonly KubeObject[];
  /** What the source creates. Undefined: not known. */
  readonly recorded: readonly KubeObject[] | undefined;
}

/** What the definitions create for a resource. Objects of kinds that Kubernetes does not have become ready at once. */
async function trial(
  definitions: readonly DefinitionManifest[],
  resource: KubeObject,
  { results, given, recorded }: TrialOptions,
): Promise<string> {
  const unknown = new UnknownKinds(results.flatMap(({ imported }) => imported ?? []));
  const { children, problem } = await renderResource({
    definitions,
    resource,
    given: [...unknown.crds, ...given],
    simulatesControllers: true,
    statusOf: (child) => (unknown.has(child) ? readyStatus : undefined),
  });
  const name = `${resource.kind} "${resource.metadata.name}"`;
  const list = children.map(({ manifest: { kind, metadata } }) => `${kind}/${metadata.name}`);
  const what = list.length === 0 ? 'no objects' : list.join(', ');
  const differences =
    recorded === undefined
      ? []
      : renderedDifferences(recorded, children, resource.metadata.namespace ?? 'default');
  if (differences.length > 0)
    return `Note: ${name} does not get the recorded objects: ${differences.join('; ')}`;
  const asRecorded = recorded === undefined ? '' : ', as recorded';
  return problem === undefined
    ? `${name} is ready in a simulated cluster with ${what}${asRecorded}`
    : `Note: ${name} is not ready in a simulated cluster with ${what}${asRecorded}. ${problem}`;
}

const readyStatus: JsonObject = { conditions: [{ type: 'Ready', status: 'True' }] };
