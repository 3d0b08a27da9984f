import { type MergedRule, privilegeWarning } from './access-rule.ts';

/** The service account that gets the roles. */
interface ServiceAccountRef {
  readonly namespace: string;
  readonly name: string;
}

interface RolesOptions {
  /** Name of all roles and bindings. */
  readonly name: string;
  readonly serviceAccount: ServiceAccountRef;
  readonly rules: readonly MergedRule[];
  readonly labels?: Readonly<Record<string, string>>;
}

const rbac = 'rbac.authorization.k8s.io';

/**
 * Formats rules as YAML documents for `kubectl apply`: a ClusterRole, a Role for each namespace, and their bindings. Comments above each
 * rule state its purpose.
 */
export function rolesYaml({ rules, ...options }: RolesOptions): string {
  const namespaces = [...new Set(rules.flatMap(({ namespaces = [] }) => namespaces))].sort();
  const everywhere = rules.filter((rule) => rule.namespaces === undefined);
  const documents = [
    ...(everywhere.length > 0 ? roleAndBinding(options, everywhere, undefined) : []),
    ...namespaces.flatMap((namespace) => {
      const here = rules.filter((rule) => rule.namespaces?.includes(namespace) === true);
      return roleAndBinding(options, here, namespace);
    }),
  ];
  return documents.join('---\n');
}

function roleAndBinding(
  { name, serviceAccount, labels = {} }: Omit<RolesOptions, 'rules'>,
  rules: readonly MergedRule[],
  namespace: string | undefined,
): readonly string[] {
  const prefix = namespace === undefined ? 'Cluster' : '';
  const header = (kind: string) =>
    [
      `apiVersion: ${rbac}/v1`,
      `kind: ${prefix}${kind}`,
      'metadata:',
      `  name: ${name}`,
      ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
      ...(Object.keys(labels).length === 0 ? [] : ['  labels:']),
      ...Object.entries(labels).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}`),
    ].join('\n');
  const subject = `{ kind: ServiceAccount, namespace: ${serviceAccount.namespace}, name: ${serviceAccount.name} }`;
  return [
    `${header('Role')}\nrules:\n${rulesYaml(rules)}`,
    `${header('RoleBinding')}
roleRef: { apiGroup: ${rbac}, kind: ${prefix}Role, name: ${name} }
subjects:
  - ${subject}
`,
  ];
}

/** Formats a rule on one line. */
export function ruleText({ apiGroup, resource, names, verbs }: MergedRule): string {
  const named = names === undefined ? '' : ` resourceNames: ${list(names)},`;
  return `{ apiGroups: ${list([apiGroup])}, resources: ${list([resource])},${named} verbs: ${list(verbs)} }`;
}

/** Formats the items of `rules` with comments. `comment`: returns additional comments for a rule. */
export function rulesYaml(
  rules: readonly MergedRule[],
  { indent = 2, comment }: RulesYamlOptions = {},
): string {
  const margin = ' '.repeat(indent);
  return rules
    .map((rule) => {
      const { apiGroup, resource, names, verbs, reasons } = rule;
      const risk = privilegeWarning(rule);
      const warnings = risk === undefined ? [] : [`WARNING: ${risk}`];
      const lines = [
        ...[...reasons, ...(comment?.(rule) ?? []), ...warnings].map((text) => `# ${text}`),
        `- apiGroups: ${list([apiGroup])}`,
        `  resources: ${list([resource])}`,
        ...(names === undefined ? [] : [`  resourceNames: ${list(names)}`]),
        `  verbs: ${list(verbs)}`,
      ];
      return lines.map((line) => `${margin}${line}\n`).join('');
    })
    .join('');
}

interface RulesYamlOptions {
  /** Indentation of each item. @default 2 */
  readonly indent?: number;
  /** Additional comment lines. @default none */
  readonly comment?: (rule: MergedRule) => readonly string[];
}

/** Valid as YAML and JSON. */
function list(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(', ')}]`;
}
