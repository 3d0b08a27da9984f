import { customResourceSchema } from '#compile';
import { gvkKey } from '#util/gvk.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { OwnKind } from './own-kind.ts';

/**
 * The schemas of own kinds, as the API server will publish them. A definition that installs such a kind by using it is compiled before that:
 * without them, its children would be applied again after a restart, because their values have types then.
 */
export function ownSchemas(kinds: readonly OwnKind[]): NonNullable<SharedOptions['ownSchema']> {
  return (gvk) => {
    const own = kinds.find((each) => gvkKey(each.gvk) === gvkKey(gvk));
    return own && customResourceSchema(own.schema(), gvk);
  };
}
