import { printYaml } from '#definition';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { type ClusterSession, type SessionContext, withCluster } from './cluster-session.ts';
import { columnWidths, tableLine, tableLines } from './print-table.ts';
import { listObjects, readObject, requestObjects, type Selection, titleOf } from './requests.ts';
import { type Target, targetsOf } from './targets.ts';
import { versionOf, watchTables } from './watch-tables.ts';

export type OutputFormat = 'wide' | 'yaml' | 'json' | 'name';

export interface GetOptions {
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly output?: OutputFormat;
  /** Prints changes until stopped. Only for tables of one kind. @default false */
  readonly watch?: boolean;
}

export interface GetRequest {
  /** `pods`, `po,svc`, `all`, `pod/web`. */
  readonly types: string;
  /** Empty: all. */
  readonly names: readonly string[];
  readonly options: GetOptions;
}

const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** `homeostat get TYPE [NAME...]`: a table as the server prints it, or the objects. @throws CliError */
export function get(context: SessionContext, request: GetRequest): Promise<number> {
  return withCluster(context, async (session) => {
    const { types, names, options } = request;
    const targets = targetsOf(session.kinds, types, names);
    const { output, watch = false } = options;
    if (watch) await watchOne(session, targets, options);
    else if (output === undefined || output === 'wide')
      await printTables(session, targets, options);
    else printObjects(session, await readAll(session, targets, options), output);
    return exitCode.ok;
  });
}

async function printTables(
  session: ClusterSession,
  targets: readonly Target[],
  options: GetOptions,
): Promise<void> {
  const { output } = session;
  const { allNamespaces = false } = options;
  let isFirst = true;
  for (const { kind, names } of targets) {
    const tables = await Promise.all(
      selectionsOf(names, options).map((one) => requestObjects(session, kind, one, tableAccept)),
    );
    const [header = [], ...rows] = rowsOf(tables, {
      isWide: options.output === 'wide',
      withNamespace: allNamespaces && kind.namespaced,
      titleOf: targets.length > 1 ? (name) => titleOf(kind, name) : (name) => name,
    });
    if (rows.length === 0) continue;
    if (!isFirst) output.print('');
    isFirst = false;
    for (const line of tableLines(header, rows)) output.print(line);
  }
  if (!isFirst) return;
  const isEverywhere = allNamespaces || targets.every(({ kind }) => !kind.namespaced);
  output.error(`No resources found${isEverywhere ? '' : ` in namespace "${session.namespace}"`}`);
}

/** Prints the table of one kind, and a row for each change. @throws CliError */
async function watchOne(
  session: ClusterSession,
  targets: readonly Target[],
  options: GetOptions,
): Promise<void> {
  const [target, ...others] = targets;
  const { output: format = 'wide', allNamespaces = false } = options;
  if (target === undefined || others.length > 0 || target.names.length > 1)
    throw new CliError('Expected one kind with --watch, and one name at most');
  if (format !== 'wide') throw new CliError(`--watch prints tables, not "${format}"`);
  const { kind } = target;
  const [selection = {}] = selectionsOf(target.names, options);
  const table = await requestObjects(session, kind, selection, tableAccept);
  const columns = fieldList<Column>(table, 'columnDefinitions');
  const view = {
    isWide: options.output === 'wide',
    withNamespace: allNamespaces && kind.namespaced,
    titleOf: (name: string) => name,
  };
  const [header = [], ...first] = rowsOf([table], view);
  const widths = columnWidths([header, ...first]);
  const print = (row: readonly string[]) => session.output.print(tableLine(row, widths));
  for (const row of [header, ...first]) print(row);
  await watchTables(session, {
    kind,
    selection,
    accept: tableAccept,
    resourceVersion: versionOf(table) ?? '',
    onTable(changed) {
      // Later tables have no columns.
      const rows = fieldList<Row>(changed, 'rows');
      for (const row of rowsOf([{ columnDefinitions: columns, rows }], view).slice(1)) print(row);
    },
  });
}

function selectionsOf(names: readonly string[], options: GetOptions): readonly Selection[] {
  const { allNamespaces = false, selector } = options;
  if (names.length > 0) return names.map((name) => ({ name }));
  return [{ allNamespaces, ...(selector === undefined ? {} : { selector }) }];
}

interface Column {
  readonly name?: unknown;
  readonly priority?: unknown;
}

interface Row {
  readonly cells?: readonly unknown[];
  readonly object?: { readonly metadata?: { readonly namespace?: string } };
}

interface TableView {
  readonly isWide: boolean;
  readonly withNamespace: boolean;
  readonly titleOf: (name: string) => string;
}

/** The header and the rows of tables of one kind. */
function rowsOf(tables: readonly unknown[], view: TableView): readonly (readonly string[])[] {
  const [columns = []] = tables.map((table) => fieldList<Column>(table, 'columnDefinitions'));
  const shown = [...columns.keys()].filter(
    (at) => view.isWide || Number(columns[at]?.priority ?? 0) === 0,
  );
  const lead = (text: string) => (view.withNamespace ? [text] : []);
  const header = [...lead('NAMESPACE'), ...shown.map((at) => String(columns[at]?.name))];
  const rows = tables.flatMap((table) => fieldList<Row>(table, 'rows'));
  return [
    header.map((name) => name.toUpperCase()),
    ...rows.map(({ cells = [], object }) => [
      ...lead(object?.metadata?.namespace ?? ''),
      ...shown.map((at) => (at === 0 ? view.titleOf(cellText(cells[at])) : cellText(cells[at]))),
    ]),
  ];
}

function cellText(cell: unknown): string {
  if (cell === undefined || cell === null) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

function fieldList<T>(value: unknown, field: string): readonly T[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? (list as readonly T[]) : [];
}

async function readAll(
  session: ClusterSession,
  targets: readonly Target[],
  options: GetOptions,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const { kind, names } of targets) {
    if (names.length === 0)
      for (const selection of selectionsOf(names, options))
        found.push(...(await listObjects(session, kind, selection)));
    for (const name of names) found.push(await readObject(session, kind, name));
  }
  return found;
}

function printObjects(
  { output, kinds }: ClusterSession,
  objects: readonly KubeObject[],
  format: 'yaml' | 'json' | 'name',
): void {
  if (format === 'name') {
    for (const { apiVersion, kind, metadata } of objects) {
      const info = kinds.of(apiVersion, kind);
      output.print(info === undefined ? metadata.name : titleOf(info, metadata.name));
    }
    return;
  }
  const bare = objects.map(withoutManagedFields);
  const document = bare.length === 1 ? bare[0] : { apiVersion: 'v1', kind: 'List', items: bare };
  output.print(
    format === 'json' ? JSON.stringify(document, undefined, 2) : printYaml(document).trimEnd(),
  );
}

/** Fields that are not printed: they are of no interest to a reader. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & {
    readonly managedFields?: unknown;
  };
  return { ...object, metadata };
}
