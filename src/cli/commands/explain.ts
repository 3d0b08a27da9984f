import { checkDefinitions } from '../../check/index.ts';
import { bundledSchemas, type Explanation, explainDefinition } from '../../compile/index.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';

export interface ExplainFlags {
  readonly output: 'text' | 'mermaid' | 'json';
}

/**
 * `homeostat explain PATH...`: prints what definitions create, in which order, and what each object and status field depends on.
 * @returns the exit code: 1 when a definition has errors.
 * @throws CliError when there is no definition
 */
export async function explain(
  paths: readonly string[],
  { output: format }: ExplainFlags,
  output: Output,
): Promise<number> {
  const texts = await loadManifests(paths);
  const schemas = bundledSchemas();
  const { accepted, diagnostics } = checkDefinitions(texts, { schemas });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  printDiagnostics(errors, texts, output);
  if (errors.length > 0) return exitCode.failure;
  if (accepted.length === 0) throw new CliError(`There is no definition in ${paths.join(', ')}`);
  const explained = accepted.map(({ located }) => explainDefinition(located, schemas));
  if (format === 'json') output.print(JSON.stringify(explained, undefined, 2));
  else {
    const lines = format === 'text' ? explained.map(explanationLines) : explained.map(mermaidLines);
    output.print(lines.map((block) => block.join('\n')).join('\n\n'));
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
    const { id, tier, stage, waitsFor, when, forEach, inputs } = child;
    const title = `${id}: ${child.gvk.kind}${child.name === undefined ? '' : ` "${child.name}"`}`;
    return [
      `  ${stage === 'onDelete' ? 'on delete' : tier}. ${title}`,
      ...detail('for each', forEach),
      ...detail('when', when),
      ...detail('waits for', waitsFor.join(', ')),
      ...detail('reads', inputs.join(', ')),
    ];
  });
  return [
    `${gvk.kind} (${apiVersionOf(gvk)}), definition "${name}"`,
    ...section(
      'Reads',
      reads.flatMap(({ id, gvk: { kind }, by, optional, inputs }) => [
        `  ${id}: ${kind} by ${by}${optional ? ', optional' : ''}`,
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

/** A Mermaid flowchart: an arrow leads from what is read to what reads it. A dotted one is of `observed`, which is not waited for. */
export function mermaidLines({ gvk, reads, children, reports }: Explanation): readonly string[] {
  const status = reports.filter(({ inputs }) => inputs.length > 0);
  const nodes = [
    `  resource(["${gvk.kind}"])`,
    ...reads.map(({ id, gvk: { kind } }) => `  reads_${id}[("${id}<br/>${kind}")]`),
    ...children.map(
      ({ id, forEach, gvk: { kind } }) =>
        `  child_${id}${forEach === undefined ? '[' : '[['}"${id}<br/>${kind}"${forEach === undefined ? ']' : ']]'}`,
    ),
    ...(status.length === 0 ? [] : ['  status(["status"])']),
  ];
  const edges = [
    ...reads.flatMap(({ id, inputs }) => edgesTo(`reads_${id}`, inputs)),
    ...children.flatMap(({ id, inputs, waitsFor }) =>
      edgesTo(`child_${id}`, [...inputs, ...waitsFor.map((other) => `children.${other}`)]),
    ),
    ...edgesTo(
      'status',
      status.flatMap(({ inputs }) => inputs.filter((input) => !input.startsWith('status'))),
    ),
  ];
  return ['flowchart LR', ...nodes, ...new Set(edges)];
}

function edgesTo(node: string, inputs: readonly string[]): readonly string[] {
  return inputs.flatMap((input) => {
    const [root = '', id = ''] = input.split('.');
    switch (root) {
      case 'children':
        return id === '' || node === `child_${id}` ? [] : [`  child_${id} --> ${node}`];
      case 'observed':
        return id === '' || node === `child_${id}` ? [] : [`  child_${id} -.-> ${node}`];
      case 'reads':
        return id === '' ? [] : [`  reads_${id} --> ${node}`];
      case 'the time':
        return [];
      default:
        return [`  resource --> ${node}`];
    }
  });
}
