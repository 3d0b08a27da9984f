import { nearestName } from '#util/did-you-mean.ts';
import { pointerTo } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledChild } from '../compiled-templates.ts';
import type { Diagnostics } from '../diagnostics.ts';
import {
  type CompiledTemplate,
  fieldsOf,
  nodeAt,
  type TemplateNode,
} from '../template/template.ts';
import { itemsOf, literalAt } from './typed-nodes.ts';
import { neverEqual } from './written-values.ts';

/** Checks ports of Services, and names of ports. */
export function checkServices({ parts, diagnostics }: CheckContext): void {
  const workloads = parts.objects.flatMap(workloadOf);
  for (const child of parts.children) {
    if (child.definition.gvk.group !== '' || child.definition.gvk.kind !== 'Service') continue;
    checkNames(child, diagnostics);
    warnAboutTargets(child, workloads, diagnostics);
    warnAboutSelection(child, workloads, diagnostics);
  }
  for (const child of parts.objects) warnAboutProbes(child, diagnostics);
}

const probes = ['readinessProbe', 'livenessProbe', 'startupProbe'];

/** Warns about the name of a port in a probe that its container does not have: the probe fails. */
function warnAboutProbes({ template }: CompiledChild, diagnostics: Diagnostics): void {
  const steps = [...podTemplate, 'spec', 'containers'];
  const containers = nodeAt(template.root, steps);
  if (containers === undefined) return;
  for (const [index, container] of itemsOf(containers).entries()) {
    if (container === undefined) continue;
    const names = namesIn(container);
    if (names.includes(undefined)) continue;
    for (const probe of probes)
      for (const handler of ['httpGet', 'tcpSocket']) {
        const port = literalAt(nodeAt(container, [probe, handler]), 'port');
        if (typeof port !== 'string' || names.includes(port)) continue;
        const known = names.filter((name) => name !== undefined);
        diagnostics.report({
          severity: 'warning',
          code: 'unknown-name',
          message: `The container has no port with the name "${port}"`,
          hint: portHint(port, known),
          path: [...steps, index, probe, handler, 'port'].reduce<string>(
            pointerTo,
            template.pointer,
          ),
        });
      }
  }
}

function portHint(name: string, known: readonly string[]): string {
  const near = nearestName(name, known) ?? (known.length === 1 ? known[0] : undefined);
  return near === undefined
    ? `Add "name: ${name}" to a port of a container, or write its number`
    : `Did you mean "${near}"?`;
}

/** Ports of a Service with more than one port need names. */
function checkNames({ template }: CompiledChild, diagnostics: Diagnostics): void {
  const ports = portsOf(template);
  if (ports.length < 2) return;
  for (const [index, port] of ports.entries()) {
    const fields = port && fieldsOf(port);
    if (fields === undefined || fields.has('name')) continue;
    diagnostics.report({
      code: 'missing-field',
      message: 'Each port of a Service with several ports needs a "name"',
      path: pointerOf(template, index),
    });
  }
}

/**
 * Warns about a Service that never selects the Pods of the only workload beside it. A Service of other Pods is none of its concern, so the
 * labels must have the same keys, and a value must be similar.
 */
function warnAboutSelection(
  { template, forEach }: CompiledChild,
  workloads: readonly Workload[],
  diagnostics: Diagnostics,
): void {
  const [workload, ...others] = workloads;
  const node = nodeAt(template.root, ['spec', 'selector']);
  const selector = node && fieldsOf(node);
  if (selector === undefined || workload === undefined || others.length > 0) return;
  // The elements of two lists have nothing in common.
  if (forEach !== undefined || workload.isList) return;
  const { kind, id, labelNodes, slots } = workload;
  if (![...selector.keys()].every((key) => labelNodes.has(key))) return;
  for (const [key, wanted] of selector) {
    const given = labelNodes.get(key);
    const written = { node: wanted, slots: template.slots };
    if (given === undefined || !neverEqual(written, { node: given, slots })) continue;
    if (!isSimilar(wanted, given)) continue;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `The Service does not select the Pods of ${kind} "${id}": label "${key}" differs`,
      hint: `Write the same value in "${[...podTemplate, 'metadata', 'labels'].join('.')}" of "${id}"`,
      path: ['spec', 'selector', key].reduce<string>(pointerTo, template.pointer),
    });
  }
}

/** Two texts with expressions, or two names of which one may be a slip of the other. */
function isSimilar(one: TemplateNode, other: TemplateNode): boolean {
  if (one.kind !== 'constant' || other.kind !== 'constant') return one.kind === other.kind;
  return nearestName(String(one.value), [String(other.value)]) !== undefined;
}

/** The Pods of a child. */
interface Workload extends Pick<CompiledTemplate, 'slots'> {
  readonly kind: string;
  readonly id: string;
  /** Whether it has `forEach`. */
  readonly isList: boolean;
  readonly labelNodes: ReadonlyMap<string, TemplateNode>;
  /** As written. */
  readonly labels: ReadonlyMap<string, string>;
  /** Undefined: not all of them are known. */
  readonly portNames: readonly string[] | undefined;
}

/** Warns about the name of a port that no container of the selected Pods has: the Service has no endpoints then. */
function warnAboutTargets(
  { template }: CompiledChild,
  workloads: readonly Workload[],
  diagnostics: Diagnostics,
): void {
  const selector = writtenTexts(template, ['spec', 'selector']);
  if (selector === undefined || selector.size === 0) return;
  const selected = workloads.filter(({ labels }) =>
    [...selector].every(([key, text]) => labels.get(key) === text),
  );
  const names = selected.map(({ portNames }) => portNames);
  if (names.length === 0 || names.includes(undefined)) return;
  const known = names.flatMap((each) => each ?? []);
  for (const [index, port] of portsOf(template).entries()) {
    const target = literalAt(port, 'targetPort');
    if (typeof target !== 'string' || known.includes(target)) continue;
    const { kind, id } = selected[0] as Workload;
    diagnostics.report({
      severity: 'warning',
      code: 'unknown-name',
      message: `No container of ${kind} "${id}" has a port with the name "${target}"`,
      hint: portHint(target, known),
      path: pointerTo(pointerOf(template, index), 'targetPort'),
    });
  }
}

const podTemplate = ['spec', 'template'];

function workloadOf({ definition, template, forEach }: CompiledChild): readonly Workload[] {
  const isPod = definition.gvk.group === '' && definition.gvk.kind === 'Pod';
  const pod = isPod ? [] : podTemplate;
  const steps = [...pod, 'metadata', 'labels'];
  const labels = writtenTexts(template, steps);
  const node = nodeAt(template.root, steps);
  const labelNodes = node && fieldsOf(node);
  if (labels === undefined || labelNodes === undefined) return [];
  const portNames = portNamesOf(template, [...pod, 'spec']);
  const { slots } = template;
  const { id, gvk } = definition;
  return [
    { kind: gvk.kind, id, labels, portNames, labelNodes, slots, isList: forEach !== undefined },
  ];
}

function portNamesOf(
  { root }: CompiledTemplate,
  spec: readonly string[],
): readonly string[] | undefined {
  const names: (string | undefined)[] = [];
  for (const list of ['containers', 'initContainers']) {
    const containers = nodeAt(root, [...spec, list]);
    if (containers === undefined) continue;
    names.push(...inAll(containers, (container) => namesIn(container)));
  }
  const known = names.filter((name) => name !== undefined);
  return known.length < names.length ? undefined : known;
}

function namesIn(container: TemplateNode): readonly (string | undefined)[] {
  const fields = fieldsOf(container);
  if (fields === undefined) return [undefined];
  const ports = fields.get('ports');
  if (ports === undefined) return [];
  return inAll(ports, (port) => {
    const name = fieldsOf(port)?.get('name');
    if (name === undefined) return fieldsOf(port) === undefined ? [undefined] : [];
    return [name.kind === 'constant' ? String(name.value) : undefined];
  });
}

/** What is found in the items of a list; undefined for items that are not known. */
function inAll<T>(
  list: TemplateNode,
  find: (item: TemplateNode) => readonly (T | undefined)[],
): readonly (T | undefined)[] {
  const isList = list.kind === 'list' || (list.kind === 'constant' && Array.isArray(list.value));
  return isList
    ? itemsOf(list).flatMap((item) => (item === undefined ? [undefined] : find(item)))
    : [undefined];
}

/** The texts of a map with literal keys, as they are written: equal ones have equal values. Undefined: not all of them are known. */
function writtenTexts(
  { root, slots }: CompiledTemplate,
  steps: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const node = nodeAt(root, steps);
  const fields = node && fieldsOf(node);
  if (fields === undefined) return undefined;
  const texts = [...fields].map(([key, value]): readonly [string, string] => [
    key,
    (value.kind === 'slot' ? slots[value.slot]?.text : JSON.stringify(value)) ?? '',
  ]);
  return new Map(texts);
}

function portsOf({ root }: CompiledTemplate): readonly (TemplateNode | undefined)[] {
  const list = nodeAt(root, ['spec', 'ports']);
  return list === undefined ? [] : itemsOf(list);
}

function pointerOf({ pointer }: CompiledTemplate, index: number): string {
  return ['spec', 'ports', index].reduce<string>(pointerTo, pointer);
}
