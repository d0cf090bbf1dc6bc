//! What a failed write proves.

use core::error::Error;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::CancellationReason;

use crate::aws::failure::{Failure, FailureKind, class_of, log};
use crate::aws::tries::Tries;
use crate::ports::WriteFault;

/// Codes with which DynamoDB answers before it does anything. One that is not here proves nothing: among those left
/// out on purpose are `IdempotentParameterMismatchException` and `TransactionInProgressException`, which say that an
/// earlier request under our token was, or is being, worked on.
const REFUSED: [&str; 23] = [
    "AccessDeniedException",
    "ExpiredTokenException",
    "IncompleteSignature",
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "ItemCollectionSizeLimitExceededException",
    "LimitExceededException",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "OptInRequired",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestExpired",
    "ResourceInUseException",
    "ResourceNotFoundException",
    "SerializationException",
    "SubscriptionRequiredException",
    "ThrottlingException",
    "UnknownOperationException",
    "UnrecognizedClientException",
    "ValidationError",
    "ValidationException",
    // Its reasons were looked at before; whatever they are, a cancelled transaction wrote nothing.
    "TransactionCanceledException",
];

/// What a write's last error, and the tries before it, prove. Logged here, once.
pub(in crate::aws) fn write_fault<E>(
    operation: &'static str,
    error: &SdkError<E, HttpResponse>,
    tries: &Tries,
    reasons: &[CancellationReason],
) -> WriteFault
where
    E: Error + ProvideErrorMetadata + 'static,
{
    let failure = Failure::of(error);
    let fault = if tries.all_refused() { last_fault(&failure, reasons) } else { WriteFault::Unknown };
    log(operation, &failure, class_of(fault));
    fault
}

fn last_fault(failure: &Failure<'_>, reasons: &[CancellationReason]) -> WriteFault {
    match failure.kind {
        FailureKind::NotBuilt | FailureKind::NeverConnected => WriteFault::Refused,
        FailureKind::Answered(400..=499) if failure.code == "TransactionConflictException" => WriteFault::Conflict,
        FailureKind::Answered(400..=499) if has_code(reasons, "TransactionConflict") => WriteFault::Conflict,
        FailureKind::Answered(400..=499) if REFUSED.contains(&failure.code) => WriteFault::Refused,
        FailureKind::TimedOut | FailureKind::ConnectionLost | FailureKind::Unreadable(_) | FailureKind::Answered(_) => {
            WriteFault::Unknown
        }
    }
}

fn has_code(reasons: &[CancellationReason], code: &str) -> bool {
    reasons.iter().any(|reason| reason.code() == Some(code))
}

/// Whether this write of a transaction failed its own condition.
pub(in crate::aws) fn is_held(reason: &CancellationReason) -> bool {
    reason.code() == Some("ConditionalCheckFailed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FailureKind, code: &str, reasons: &[&str]) -> WriteFault {
        let reasons: Vec<_> = reasons.iter().map(|code| CancellationReason::builder().code(*code).build()).collect();
        last_fault(&Failure { kind, code }, &reasons)
    }

    #[test]
    fn only_proof_refuses() {
        use FailureKind::{Answered, ConnectionLost, NeverConnected, NotBuilt, TimedOut, Unreadable};
        for (kind, code, reasons, expected) in [
            (NotBuilt, "", &[][..], WriteFault::Refused),
            (NeverConnected, "", &[], WriteFault::Refused),
            (TimedOut, "", &[], WriteFault::Unknown),
            (ConnectionLost, "", &[], WriteFault::Unknown),
            (Unreadable(200), "", &[], WriteFault::Unknown),
            (Answered(400), "ThrottlingException", &[], WriteFault::Refused),
            (Answered(400), "ProvisionedThroughputExceededException", &[], WriteFault::Refused),
            (Answered(400), "AccessDeniedException", &[], WriteFault::Refused),
            (Answered(400), "ValidationException", &[], WriteFault::Refused),
            (Answered(400), "TransactionConflictException", &[], WriteFault::Conflict),
            (Answered(400), "IdempotentParameterMismatchException", &[], WriteFault::Unknown),
            (Answered(400), "TransactionInProgressException", &[], WriteFault::Unknown),
            (Answered(400), "SomethingNewException", &[], WriteFault::Unknown),
            (Answered(400), "", &[], WriteFault::Unknown),
            (Answered(500), "ThrottlingException", &[], WriteFault::Unknown),
            (Answered(500), "InternalServerError", &[], WriteFault::Unknown),
            (Answered(503), "", &[], WriteFault::Unknown),
            (Answered(400), "TransactionCanceledException", &["None", "TransactionConflict"], WriteFault::Conflict),
            (Answered(400), "TransactionCanceledException", &["ThrottlingError", "None"], WriteFault::Refused),
            (Answered(400), "TransactionCanceledException", &[], WriteFault::Refused),
        ] {
            assert_eq!(fault(kind, code, reasons), expected, "{kind:?} {code} {reasons:?}");
        }
    }
}
