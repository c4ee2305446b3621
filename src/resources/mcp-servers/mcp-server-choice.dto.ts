import { IsOptional, ValidateBy } from 'class-validator';
import { MOST_SERVERS, SERVER_NAME } from '../../platform/config/mcp-servers.js';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';

function areNames(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MOST_SERVERS) return false;
  return value.every((one) => typeof one === 'string') && new Set(value).size === value.length;
}

/** A field that names servers. @param nullable whether null may stand there. `description` stands in the document. */
export const ChoiceOfMcpServers =
  (description: string, nullable = false): PropertyDecorator =>
  (target, key): void => {
    const defaultMessage = () =>
      `$property must be at most ${MOST_SERVERS} different names of servers, as GET /v1/mcp-servers lists them`;
    ValidateBy({ name: 'mcpServers', validator: { validate: areNames, defaultMessage } })(target, key);
    (nullable ? IsOptional() : OptionalNotNull())(target, key);
    const items = { type: 'string', pattern: SERVER_NAME.source };
    Documented({ description, type: 'array', items, maxItems: MOST_SERVERS, uniqueItems: true })(target, key);
  };
