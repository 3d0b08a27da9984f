import bundle from '#compile/schema/builtin-schemas.generated.json' with { type: 'json' };
import tables from '#compile/schema/builtin-tables.generated.json' with { type: 'json' };
import type { BuiltinSchemas } from '#sandbox';

/** The documents of the built-in kinds that the sandbox of the tests serves. */
export function sandboxSchemas(): BuiltinSchemas {
  const roots = Object.entries(bundle.kinds).map(([kind, { root }]) => [kind, root]);
  return {
    components: bundle.components as BuiltinSchemas['components'],
    roots: Object.fromEntries(roots),
    droppedZeros: tables.zeroDropped,
  };
}
