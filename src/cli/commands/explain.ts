import { existsSync } from 'node:fs';
import { checkDefinitions } from '#check';
import {
  bundledSchemas,
  type Explanation,
  explainDefinition,
  graphOf,
  mermaidLines,
} from '#compile';
import { apiVersionOf } from '#util/gvk.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests, standardInput } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import type { ClusterFlags, SessionContext } from './cluster-session.ts';
import { explainFunctions, namesFunctions } from './explain-functions.ts';
import { explanationSvg } from './explanation-svg.ts';

export interface ExplainFlags extends ClusterFlags {
  readonly output: 'text' | 'mermaid' | 'svg' | 'json';
  /** Files and folders with the definitions whose kinds are explained. @default `operators`, if there is such a folder */
  readonly definitions?: readonly string[];
  /** Names all fields below the field. @default false */
  readonly recursive?: boolean;
  /** Files with objects that exist before, for a resource in a file. */
  readonly with?: readonly string[];
  /** Where the keys of versions are, for a resource of a cluster. @default looked for */
  readonly runtimeNamespace?: string;
  /** Whether simulated controllers make children ready, for a resource in a file. @default true */
  readonly simulate?: boolean;
}

/**
 * `homeostat explain`: of definitions (paths) what they create, of a definition and a resource (a file, or `TYPE/NAME` in a cluster) why each
 * object is as it is, of a type (`deployments.spec`) its fields, and `functions` of expressions. What exists as a file or folder is a path.
 * @returns the exit code
 * @throws CliError for what is none of these
 */
export async function explain(
  words: readonly string[],
  context: SessionContext & { readonly flags: ExplainFlags },
): Promise<number> {
  const { flags, output } = context;
  const [first = '', second, ...others] = words;
  const isPath = (word: string) => word === standardInput.path || existsSync(word);
  if (!isPath(first)) {
    if (second === undefined && namesFunctions(first)) return explainFunctions(first, output);
    if (second === undefined && !looksLikePath(first)) {
      const { explainType } = await import('./explain-type.ts');
      const { recursive: isRecursive = false, definitions } = flags;
      return explainType(
        { what: first, isRecursive, ...(definitions && { definitions }) },
        context,
      );
    }
  } else if (second !== undefined && others.length === 0) {
    const { explainResource, isResourceFile } = await import('./explain-resource.ts');
    const isFile = isPath(second);
    if (isFile ? await isResourceFile(second) : isReference(second))
      return explainResource({ path: first, resource: second, isFile }, context);
  }
  return explainDefinitions(words, flags, output);
}

/** `operators/web.yaml`, `./web`; no name of a type. */
function looksLikePath(word: string): boolean {
  return word.includes('/') || word.startsWith('.') || /\.(?:ya?ml|json)$/.test(word);
}

/** `podset/web`. */
function isReference(word: string): boolean {
  return /^[\w.-]+\/[\w.-]+$/.test(word) && !looksLikePath(word.replace('/', ''));
}

/**
 * Prints what definitions create, in which order, and what each object and status field depends on.
 * @returns the exit code: 1 when a definition has errors.
 * @throws CliError when there is no definition
 */
async function explainDefinitions(
  paths: readonly string[],
  { output: format }: ExplainFlags,
  output: Output,
): Promise<number> {
  const texts = await loadManifests(paths);
  const schemas = bundledSchemas();
  const { accepted, diagnostics } = checkDefinitions(texts, { schemas });
  printDiagnostics(diagnostics, texts, output);
  if (diagnostics.some(({ severity }) => severity === 'error')) return exitCode.failure;
  if (accepted.length === 0) throw new CliError(`There is no definition in ${paths.join(', ')}`);
  const explained = accepted.map(({ located }) => explainDefinition(located, schemas));
  if (format === 'json') output.print(JSON.stringify(explained, undefined, 2));
  else if (format === 'svg') output.print(explanationSvg(explained));
  else {
    const linesOf =
      format === 'text' ? explanationLines : (each: Explanation) => mermaidLines(graphOf(each));
    output.print(explained.map((each) => linesOf(each).join('\n')).join('\n\n'));
  }
  return exitCode.ok;
}

/** For people: objects by the order of their creation, with what they depend on. */
export function explanationLines({
  name,
  gvk,
  reads,
  children,
  reports,
}: Explanation): readonly string[] {
  const childLines = children.flatMap((child) => {
    const { id, tier, stage, waitsFor, when, forEach, cluster, inputs } = child;
    const title = `${id}: ${child.gvk.kind}${child.name === undefined ? '' : ` "${child.name}"`}`;
    return [
      `  ${stage === 'onDelete' ? 'on delete' : tier}. ${title}`,
      ...detail('for each', forEach),
      ...detail('in cluster', cluster),
      ...detail('when', when),
      ...detail('waits for', waitsFor.join(', ')),
      ...detail('reads', inputs.join(', ')),
    ];
  });
  return [
    `${gvk.kind} (${apiVersionOf(gvk)}), definition "${name}"`,
    ...section(
      'Reads',
      reads.flatMap(({ id, gvk: { kind }, by, optional, cluster, inputs }) => [
        `  ${id}: ${kind} by ${by}${optional ? ', optional' : ''}`,
        ...detail('in cluster', cluster),
        ...detail('reads', inputs.join(', ')),
      ]),
    ),
    ...section('Children, in the order of their creation', childLines),
    ...section(
      'Reported',
      reports.map(({ name: title, inputs }) =>
        inputs.length === 0 ? `  ${title}` : `  ${title}: reads ${inputs.join(', ')}`,
      ),
    ),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

function detail(label: string, text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : [`       ${label} ${text}`];
}
