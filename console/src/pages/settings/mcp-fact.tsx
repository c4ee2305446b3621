import { t } from '../../texts/index.ts';
import { Fact } from '../../ui/records.tsx';

/** The servers that are named for tasks; nothing where none are said (null). */
export const McpFact = ({ of }: { of: string[] | null }) =>
  of === null ? null : <Fact name={t.mcp.label}>{of.join(', ') || t.mcp.none}</Fact>;
