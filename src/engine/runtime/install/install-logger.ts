import { installGvk } from '#compile';
import type { LogFields, Logger } from '#telemetry/roles.ts';
import { definitionGvk } from '../objects/names.ts';

/** The logger of the objects of a definition: its lines name the definition, not what stands for it. */
export function createInstallLogger(logger: Logger, definition: string): Logger {
  const named = (fields: LogFields): LogFields =>
    fields.definition === undefined ? fields : { ...fields, definition };
  return {
    debug: (fields, message) => logger.debug(named(fields), message),
    info: (fields, message) => logger.info(named(fields), message),
    warn: (fields, message) => logger.warn(named(fields), message),
    error: (fields, message) => logger.error(named(fields), message),
    child: (fields) =>
      createInstallLogger(
        logger.child({
          ...named(fields),
          ...(fields.kind === installGvk.kind && { kind: definitionGvk.kind }),
        }),
        definition,
      ),
  };
}
