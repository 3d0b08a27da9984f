import { printYaml } from '#definition';
import { treeLines } from '#dev';
import type { KindInfo } from '#kube';
import { isJsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { objectState } from '#util/object-tree/object-state.ts';
import { printableLine } from '#util/printable-text.ts';
import { exitCode } from '../exit-code.ts';
import { type ClusterSession, type SessionContext, withCluster } from './cluster-session.ts';
import { eventLinesOf } from './events.ts';
import { ageText, tableLines } from './print-table.ts';
import { listObjects, readObject } from './requests.ts';
import { targetsOf } from './targets.ts';
import { readTree } from './tree.ts';
import { withoutSecrets } from './without-secrets.ts';

export interface DescribeRequest {
  readonly types: string;
  /** Empty: all. */
  readonly names: readonly string[];
}

/** `homeostat describe TYPE [NAME...]`: an object, its conditions, the objects that it owns, and its Events. @throws CliError */
export function describe(
  context: SessionContext,
  { types, names }: DescribeRequest,
): Promise<number> {
  return withCluster(context, async (session) => {
    let isFirst = true;
    for (const target of targetsOf(session.kinds, types, names)) {
      const { kind } = target;
      const objects =
        target.names.length === 0
          ? await listObjects(session, kind, {})
          : await Promise.all(target.names.map((name) => readObject(session, kind, name)));
      for (const object of objects) {
        if (!isFirst) session.output.print('');
        isFirst = false;
        for (const line of await description(session, kind, object)) session.output.print(line);
      }
    }
    if (isFirst) session.output.error('No resources found');
    return exitCode.ok;
  });
}

async function description(
  session: ClusterSession,
  kind: KindInfo,
  object: KubeObject,
): Promise<readonly string[]> {
  const about = { kind: kind.gvk.kind, name: object.metadata.name };
  return [
    ...headLines(object),
    ...section('Conditions', conditionLines(object)),
    ...section('Data', dataLines(object)),
    ...section('Tree', await treeOf(session, object)),
    ...section('Events', await eventLinesOf(session, about)),
  ];
}

function headLines(object: KubeObject): readonly string[] {
  const { apiVersion, kind, metadata } = object;
  const { namespace, labels, annotations, ownerReferences = [], finalizers = [] } = metadata;
  const age = ageText(metadata.creationTimestamp, Date.now());
  const rows: readonly (readonly [string, string])[] = [
    ['Name', metadata.name],
    ['Namespace', namespace ?? ''],
    ['Kind', `${kind} (${apiVersion})`],
    ['State', printableLine(objectState(object))],
    ['Labels', keyValueText(labels)],
    ['Annotations', keyValueText(withoutLastApplied(annotations))],
    [
      'Owner',
      ownerReferences.map((owner) => printableLine(`${owner.kind}/${owner.name}`)).join(', '),
    ],
    ['Finalizers', finalizers.join(', ')],
    ['Created', `${metadata.creationTimestamp ?? ''} (${age} ago)`],
    ['Deleted', metadata.deletionTimestamp ?? ''],
  ];
  return rows
    .filter(([, value]) => value !== '')
    .map(([title, value]) => `${`${title}:`.padEnd(13)} ${value}`);
}

/** Annotations without the copy of the object that kubectl stores. */
function withoutLastApplied(annotations: Readonly<Record<string, string>> = {}) {
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...others } = annotations;
  return others;
}

function keyValueText(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .map(([key, value]) => printableLine(`${key}=${value}`))
    .join(`\n${' '.repeat(14)}`);
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

function conditionLines(object: KubeObject): readonly string[] {
  const conditions = conditionsOf(object);
  if (conditions.length === 0) return [];
  const rows = conditions.map((condition) =>
    ['type', 'status', 'reason', 'message'].map((field) => text(condition[field])),
  );
  return tableLines(['TYPE', 'STATUS', 'REASON', 'MESSAGE'], rows);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The fields that are not printed above. */
function dataLines(object: KubeObject): readonly string[] {
  const { apiVersion: _, kind: __, metadata: ___, status, ...rest } = withoutSecrets(object);
  const { conditions: ____, ...ownStatus } = isJsonObject(status) ? status : {};
  const body = Object.keys(ownStatus).length === 0 ? rest : { ...rest, status: ownStatus };
  return Object.keys(body).length === 0 ? [] : printYaml(body).trimEnd().split('\n');
}

async function treeOf(session: ClusterSession, object: KubeObject): Promise<readonly string[]> {
  const lines = treeLines(await readTree(session, [object]));
  return lines.length > 1 ? lines : [];
}
