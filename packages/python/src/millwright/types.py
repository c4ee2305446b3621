"""The names of what the service takes and answers. The shapes are generated (`_schema`); what is open is said here."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ._schema import AddMember as AddMember
from ._schema import Agent as Agent
from ._schema import AgentStats as AgentStats
from ._schema import AgentVersion as AgentVersion
from ._schema import Answer as Answer
from ._schema import Attachment as Attachment
from ._schema import AuditEntry as AuditEntry
from ._schema import AuthContext as AuthContext
from ._schema import Automation as Automation
from ._schema import AutomationRehearsal as AutomationRehearsal
from ._schema import AutomationRun as AutomationRun
from ._schema import BillingSummary as BillingSummary
from ._schema import ChangeAgent as ChangeAgent
from ._schema import ChangeAutomation as ChangeAutomation
from ._schema import ChangeEnvironment as ChangeEnvironment
from ._schema import ChangeMember as ChangeMember
from ._schema import ChangeNotices as ChangeNotices
from ._schema import Checkout as Checkout
from ._schema import ChangeProject as ChangeProject
from ._schema import ChangeRepositoryConnection as ChangeRepositoryConnection
from ._schema import ChangeSecret as ChangeSecret
from ._schema import ChangeSkill as ChangeSkill
from ._schema import ChangeTask as ChangeTask
from ._schema import ChangeWebhook as ChangeWebhook
from ._schema import Connect as Connect
from ._schema import CreateAgent as CreateAgent
from ._schema import CreateAutomation as CreateAutomation
from ._schema import CreateEnvironment as CreateEnvironment
from ._schema import CreateKey as CreateKey
from ._schema import CreateProject as CreateProject
from ._schema import CreateRepositoryConnection as CreateRepositoryConnection
from ._schema import CreateSecret as CreateSecret
from ._schema import CreateServiceAccount as CreateServiceAccount
from ._schema import CreateServiceKey as CreateServiceKey
from ._schema import CreateTask as CreateTask
from ._schema import CreateWebhook as CreateWebhook
from ._schema import Deleted as Deleted
from ._schema import Effort as Effort
from ._schema import Environment as Environment
from ._schema import EnvironmentBuild as EnvironmentBuild
from ._schema import EnvironmentTestResponse as EnvironmentTest
from ._schema import EnvironmentVersion as EnvironmentVersion
from ._schema import Evaluate as Evaluate
from ._schema import Evaluation as Evaluation
from ._schema import File as File
from ._schema import FolderEntry as FolderEntry
from ._schema import ForkTask as ForkTask
from ._schema import Integration as Integration
from ._schema import IntegrationConnection as IntegrationConnection
from ._schema import IntegrationDelivery as IntegrationDelivery
from ._schema import Invitation as Invitation
from ._schema import Key as Key
from ._schema import ListedRepository as Repository
from ._schema import McpServer as McpServer
from ._schema import Member as Member
from ._schema import Message as Message
from ._schema import MessagePart as MessagePart
from ._schema import Model as Model
from ._schema import NetworkUse as NetworkUse
from ._schema import Notices as Notices
from ._schema import PauseTask as PauseTask
from ._schema import PaymentPage as PaymentPage
from ._schema import PendingInteraction as Interaction
from ._schema import Portal as Portal
from ._schema import Project as Project
from ._schema import Proof as TaskProof
from ._schema import PushState as PushState
from ._schema import PushSubscription as PushSubscription
from ._schema import RecoverWebhook as RecoverWebhook
from ._schema import RepositoryBranch as RepositoryBranch
from ._schema import RepositoryConnection as RepositoryConnection
from ._schema import ReviewComment as ReviewComment
from ._schema import RotateConnection as RotateConnection
from ._schema import RotateKey as RotateKey
from ._schema import RotateWebhookSecret as RotateWebhookSecret
from ._schema import Secret as Secret
from ._schema import SecretUse as SecretUse
from ._schema import SendMessage as SendMessage
from ._schema import ServiceAccount as ServiceAccount
from ._schema import SigningKeySet as SigningKeySet
from ._schema import Skill as Skill
from ._schema import SkillVersion as SkillVersion
from ._schema import Snapshot as Snapshot
from ._schema import Task as Task
from ._schema import TaskCheck as TaskCheck
from ._schema import TaskCommand as TaskCommand
from ._schema import TaskEvent as TaskEvent
from ._schema import TestNotice as TestNotice
from ._schema import Upload as Upload
from ._schema import UsageRow as UsageRow
from ._schema import Web as WebAccess
from ._schema import Webhook as Webhook
from ._schema import WebhookDelivery as WebhookDelivery
from ._schema import WholeWebhookDelivery as WholeWebhookDelivery
from ._schema import WorkspaceEvent as WorkspaceEvent
from ._schema import ConnectedResponse as MadeConnection
from ._schema import MadeKeyResponse as MadeKey
from ._schema import MadeWebhookResponse as MadeWebhook
from ._schema import MessagesSendResponse as SentMessage

__all__ = [
    "AddMember",
    "Agent",
    "AgentStats",
    "AgentVersion",
    "Answer",
    "Attachment",
    "AuditEntry",
    "AuthContext",
    "Automation",
    "AutomationRehearsal",
    "AutomationRun",
    "BillingSummary",
    "ChangeAgent",
    "ChangeAutomation",
    "ChangeEnvironment",
    "ChangeMember",
    "ChangeNotices",
    "ChangeProject",
    "ChangeRepositoryConnection",
    "ChangeSecret",
    "ChangeSkill",
    "ChangeTask",
    "ChangeWebhook",
    "Checkout",
    "CommandOutput",
    "Connect",
    "CreateAgent",
    "CreateAutomation",
    "CreateEnvironment",
    "CreateKey",
    "CreateProject",
    "CreateRepositoryConnection",
    "CreateSecret",
    "CreateServiceAccount",
    "CreateServiceKey",
    "CreateTask",
    "CreateWebhook",
    "Deleted",
    "Delta",
    "Effort",
    "Environment",
    "EnvironmentBuild",
    "EnvironmentTest",
    "EnvironmentVersion",
    "Evaluate",
    "Evaluation",
    "File",
    "FolderEntry",
    "ForkTask",
    "Integration",
    "IntegrationConnection",
    "IntegrationDelivery",
    "Interaction",
    "Invitation",
    "Key",
    "MadeConnection",
    "MadeKey",
    "MadeWebhook",
    "McpServer",
    "Member",
    "Message",
    "MessageDelta",
    "MessageDiscarded",
    "MessagePart",
    "Model",
    "NetworkUse",
    "Notices",
    "PauseTask",
    "PaymentPage",
    "Portal",
    "Project",
    "PushState",
    "PushSubscription",
    "RecoverWebhook",
    "Reply",
    "Repository",
    "RepositoryBranch",
    "RepositoryConnection",
    "ReviewComment",
    "RotateConnection",
    "RotateKey",
    "RotateWebhookSecret",
    "Secret",
    "SecretUse",
    "SendMessage",
    "SentMessage",
    "ServiceAccount",
    "SigningKeySet",
    "Skill",
    "SkillVersion",
    "Snapshot",
    "Task",
    "TaskCheck",
    "TaskCommand",
    "TaskEvent",
    "TaskProof",
    "TaskStatus",
    "TestNotice",
    "ToolProgress",
    "Upload",
    "UsageRow",
    "WebAccess",
    "Webhook",
    "WebhookDelivery",
    "WholeWebhookDelivery",
    "WorkspaceEvent",
    "is_final",
]

TaskStatus = Literal["queued", "running", "awaiting_input", "completed", "cancelled", "failed"]


class Reply(TypedDict):
    """What a person says to a question: an `Answer` without the id of what it answers."""

    content: NotRequired[str]
    optionIds: NotRequired[list[str]]
    """For a `choice`: ids of its options."""
    attachments: NotRequired[list[Attachment]]
    decision: NotRequired[Literal["approve", "deny"]]
    """For an `approval`, which takes nothing else but `reason` and `remember`."""
    reason: NotRequired[str]
    remember: NotRequired[Literal["task"]]


class MessageDelta(TypedDict):
    type: Literal["message.delta"]
    messageId: str
    index: int
    part: Literal["text", "reasoning"]
    offset: int
    """In UTF-16 code units."""
    delta: str


class ToolProgress(TypedDict):
    type: Literal["tool.progress"]
    messageId: NotRequired[str]
    """Of a call, with `toolCallId`."""
    toolCallId: NotRequired[str]
    check: NotRequired[str]
    """Of a check, with `phase` and `round`."""
    phase: NotRequired[Literal["before", "after"]]
    round: NotRequired[int]
    stream: Literal["stdout", "stderr"]
    offset: int
    delta: str


class CommandOutput(TypedDict):
    type: Literal["command.output"]
    commandId: str
    offset: int
    delta: str


class MessageDiscarded(TypedDict):
    type: Literal["message.discarded"]
    messageId: str


Delta = MessageDelta | ToolProgress | CommandOutput | MessageDiscarded
"""What is still being made: without number, never stored. An event of its message replaces it, and so does a new connection."""


def is_final(status: str) -> bool:
    """Whether nothing more happens to a task unless somebody sends a message."""
    return status in ("completed", "failed", "cancelled")
