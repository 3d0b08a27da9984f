import type { OperatorPlan, ReadPlan } from '#compile';
import { recordKeysName } from '#util/stored-names.ts';
import type { AccessRule } from './access-rule.ts';
import { reasonOfRead } from './computed-names.ts';
import { type RequiredRight, watchVerbs } from './required-right.ts';

/** On the objects that are read. */
export function readRights(reads: readonly ReadPlan[]): readonly RequiredRight[] {
  const isNamespaced = false;
  const kinds = reads.map((read): RequiredRight => {
    const { gvk, literalNames: names, namespaces } = read;
    const about = { gvk, verbs: watchVerbs, reason: reasonOfRead(read), isNamespaced };
    // Objects that are read by name are watched in their namespaces.
    const where = namespaces === undefined ? {} : { namespaces };
    if (names === undefined) return { ...about, purpose: 'reads', ...where };
    return { ...about, purpose: 'reads-by-name', names, ...where };
  });
  if (!reads.some(({ selectsNamespaces }) => selectsNamespaces)) return kinds;
  const gvk = { group: '', version: 'v1', kind: 'Namespace' };
  const reason = 'namespace selectors of its reads';
  return [...kinds, { gvk, verbs: watchVerbs, purpose: 'read-namespaces', reason, isNamespaced }];
}

/** Records are in the namespaces of the objects; those of cluster-scoped objects in the namespace of the runtime. */
export function historyRights(plan: OperatorPlan): readonly RequiredRight[] {
  const { history } = plan;
  if (history === undefined) return [];
  const kept = recordedReads(plan);
  const isNamespaced = isRecordedInOwnNamespace(plan);
  const purpose = 'history';
  const records = history.recordKinds.flatMap((gvk): readonly RequiredRight[] => {
    const about = { gvk, purpose, reason: 'its versions of what it reads' } as const;
    return [
      { ...about, verbs: watchVerbs, isNamespaced: false },
      { ...about, verbs: ['get', 'create', 'patch', 'delete'], isNamespaced },
    ];
  });
  const owner: RequiredRight = {
    gvk: plan.definition.kind.gvk,
    verbs: ['get'],
    purpose,
    reason: 'whether a resource with versions exists',
    isNamespaced: false,
  };
  const checks = kept.map(({ gvk, id }): RequiredRight => {
    const reason = `whether an object of its read "${id}" was deleted`;
    return { gvk, verbs: ['get'], purpose, reason, isNamespaced };
  });
  return [...records, ...checks, owner];
}

/** The Secret whose keys sign records. `resourceNames` also limits creates by apply, because the path contains the name. */
export function keysRule(
  { name, history }: OperatorPlan,
  namespace: string | undefined,
): readonly AccessRule[] {
  if (history === undefined) return [];
  return [
    {
      apiGroup: '',
      resource: 'secrets',
      names: [recordKeysName],
      verbs: [...watchVerbs, 'create', 'patch'],
      ...(namespace !== undefined && { namespaces: [namespace] }),
      purpose: 'history-keys',
      reason: `${name}: the keys that sign its versions`,
    },
  ];
}

/** The reads whose versions are kept. */
export function recordedReads({ reads }: OperatorPlan): readonly ReadPlan[] {
  return reads.filter(({ history }) => history !== undefined);
}

/** Whether every version is in the namespace of its resource. */
export function isRecordedInOwnNamespace(plan: OperatorPlan): boolean {
  const isDetached = plan.history?.isDetached === true;
  return !isDetached && recordedReads(plan).every(({ reach }) => reach === 'own');
}
