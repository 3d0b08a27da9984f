import type { OperatorDefinition } from '#definition';
import { didYouMean } from '#util/did-you-mean.ts';
import { apiVersionOf, type Gvk, gvkKey } from '#util/gvk.ts';
import { pointerTo } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledTemplates } from '../compiled-templates.ts';
import { bundledKinds, bundledVersions } from '../schema/bundled-schemas.ts';

/** Warns about a misspelled built-in kind, or one in an `apiVersion` that does not have it. Only Kubernetes serves its API groups. */
export function warnAboutKinds({ parts, definition, schemas, diagnostics }: CheckContext): void {
  for (const { gvk, pointer } of kindsIn(parts, definition)) {
    const apiVersion = apiVersionOf(gvk);
    const known = bundledKinds(apiVersion);
    if (known.includes(gvk.kind) || schemas?.schemaFor(gvk) !== undefined) continue;
    const isBuiltin = isBuiltinGroup(gvk.group);
    const version = isBuiltin ? bundledVersions(gvk.kind).at(-1) : undefined;
    const hint = version === undefined ? kindHint(gvk.kind, known) : `Did you mean "${version}"?`;
    if (hint === undefined && !isBuiltin) continue;
    diagnostics.report({
      severity: 'warning',
      code: 'unknown-name',
      message: `Kubernetes has no kind "${gvk.kind}" in "${apiVersion}"`,
      hint,
      path: pointerTo(pointer, version === undefined ? 'kind' : 'apiVersion'),
    });
  }
}

/** Names a similar kind, or the only one that begins with this name, such as `Deploy`. */
function kindHint(kind: string, known: readonly string[]): string | undefined {
  const [first, ...others] = known.filter((each) => each.startsWith(kind));
  const isOnly = first !== undefined && others.length === 0;
  return isOnly ? `Did you mean "${first}"?` : didYouMean(kind, known);
}

/** Groups that only Kubernetes itself uses: without a domain. Operators share `*.k8s.io`. */
function isBuiltinGroup(group: string): boolean {
  return !group.includes('.');
}

interface NamedKind {
  readonly gvk: Gvk;
  readonly pointer: string;
}

function* kindsIn(parts: CompiledTemplates, { kind }: OperatorDefinition): Iterable<NamedKind> {
  if (kind.source === 'for') yield { gvk: kind.gvk, pointer: '/spec/for' };
  const seen = new Set<string>();
  const named: readonly NamedKind[] = [
    ...parts.reads.map((read) => ({ gvk: read.definition.gvk, pointer: read.pointer })),
    ...parts.objects.map(({ definition, template }) => ({
      gvk: definition.gvk,
      pointer: template.pointer,
    })),
  ];
  for (const each of named) {
    if (!seen.has(gvkKey(each.gvk))) yield each;
    seen.add(gvkKey(each.gvk));
  }
}
