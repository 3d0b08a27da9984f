export type { KnownDefinition, KnownDefinitions } from './known-definition.ts';
export { leadingWhenSure } from './leading-when-sure.ts';
export {
  Registry,
  type RegistryOptions,
  type SourceReading,
  type TextFindings,
} from './registry.ts';
