// What the operator command needs of the audit log: to read it and to verify it. It loads nothing of HTTP.
import { Module } from '@nestjs/common';
import { AuditReader } from './audit-reader.js';
import { AuditVerifier } from './verifier.js';

@Module({ providers: [AuditReader, AuditVerifier] })
export class AuditDeskModule {}
