import { Injectable } from '@nestjs/common';
import { END } from '../../access/audit/chain.sql.js';
import { VERSION } from '../../platform/config/version.js';
import { Database } from '../../platform/database/database.js';
import { envelopeOf, type ProofEnvelope } from './envelope.js';
import type { ProofFacts } from './proof-facts.js';
import { SigningKeys } from './signing-keys.js';
import { statementOf } from './statement.js';

/** Makes of what the service has seen a record that others can verify (reference §26). */
@Injectable()
export class Proofs {
  constructor(
    private readonly database: Database,
    private readonly keys: SigningKeys,
  ) {}

  /** Writes nothing, and waits for no lock. Each call of the same facts makes a proof of its own: keep the one that was made. */
  async make(facts: ProofFacts): Promise<ProofEnvelope> {
    const { id: workspaceId } = facts.workspace;
    const [[audit = null], signer] = await Promise.all([this.database.read.run(END({ workspaceId })), this.keys.signer()]);
    return envelopeOf(statementOf(facts, VERSION, audit), signer);
  }
} // prettier-ignore
