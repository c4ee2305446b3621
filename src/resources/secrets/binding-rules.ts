import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { isAmong, secretHostsOf } from '../../platform/config/network.js';
import { Egress } from '../../platform/egress/egress.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Binding, Place } from './binding.js';
import type { BindingDto, PlaceDto } from './binding.dto.js';

/** Labels of small letters, digits, `-` and `_`; or an address of IPv6. */
const NAME = /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$|^\[[0-9a-f:.]+\]$/;
/** RFC 1035, section 2.3.4. */
const LONGEST_NAME = 253;

/**
 * Headers that hosts show to others, write to their logs or answer with, and those that frame a request (RFC 9110, section 7.6.1): a value in
 * one of them leaks, or makes another request of it.
 */
const NEVER = /^(host|cookie|user-agent|referer|origin|via|forwarded|x-forwarded-.*|connection|transfer-encoding|content-length|upgrade|te|trailer|keep-alive|expect|proxy-.*)$/i; // prettier-ignore

/** Where values may go: the hosts that the operator lists for sandboxes or reads repositories of with a secret, and places that show nobody a value (reference §24). */
@Injectable()
export class BindingRules {
  private readonly hosts: readonly string[];
  private readonly egress: Egress;

  constructor(env: Env) {
    const { sandbox, repositories = {}, repositoryNetworks = [] } = env.file;
    const bySecret = Object.entries(repositories).filter(([, { secret }]) => secret !== undefined);
    this.hosts = [...secretHostsOf(sandbox), ...bySecret.map(([host]) => host)];
    this.egress = new Egress([...(sandbox?.allowNetworks ?? []), ...repositoryNetworks]);
  }

  /** Whole bindings. Throws 400 `invalid_field` and `host_not_allowed`, with the path of the field. Names are not resolved: their addresses are checked at each connection. */
  checked(given: readonly BindingDto[]): Binding[] {
    return given.map((one, n) => this.binding(one, `bindings[${n}]`));
  }

  private binding({ host, port = 443, methods = null, paths = null, place }: BindingDto, path: string): Binding {
    this.checkHost(host, port, `${path}.host`);
    return { host, port, methods, paths, place: placeOf(place, `${path}.place`) };
  }

  private checkHost(host: string, port: number, param: string): void {
    const below = host.startsWith('*.');
    const name = below ? host.slice(2) : host;
    const url = URL.canParse(`https://${name}`) ? new URL(`https://${name}`) : null;
    // Another spelling would never be that of a request.
    if (!NAME.test(name) || name.length > LONGEST_NAME || url?.hostname !== name) {
      throw invalid(
        param,
        'must be a name in small letters, such as api.github.com, without a port: that has a field of its own, port',
      );
    }
    if (below && (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || !name.includes('.'))) {
      throw invalid(param, 'must have at least two labels behind the star, such as *.example.com');
    }
    if (this.egress.refuses(url)) {
      throw invalid(param, 'leads to an address that is not public, and lies in no network that the operator allows');
    }
    if (isAmong(this.hosts, host, port)) return;
    const which = this.hosts.length === 0 ? 'none' : this.hosts.join(', ');
    const message = `${param} is not among the hosts and ports that the operator allows for secrets: ${which}.`;
    throw new ApiError('host_not_allowed', message, { param });
  }
}

function placeOf({ header, form, user = null, query }: PlaceDto, path: string): Place {
  if ((header === undefined) === (query === undefined)) throw invalid(path, 'must have either header or query');
  if (header === undefined) {
    if (form !== undefined) throw invalid(`${path}.form`, 'is for a header alone');
    if (user !== null) throw invalid(`${path}.user`, 'is for a header alone');
    return { query: query ?? '' };
  }
  if (NEVER.test(header)) {
    throw invalid(`${path}.header`, 'must be another header: hosts show this one to others, or it frames the request');
  }
  const usual = /^authorization$/i.test(header) ? 'bearer' : 'raw';
  const chosen = form ?? usual;
  if (user !== null && chosen !== 'basic') throw invalid(`${path}.user`, 'is for the form basic alone');
  return { header, form: chosen, user };
}

export function invalid(param: string, what: string): ApiError {
  return new ApiError('invalid_field', `${param} ${what}.`, { param });
}
