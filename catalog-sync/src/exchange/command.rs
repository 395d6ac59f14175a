//! How reports name the commands that the sync sends.

use foretell_wire::Decimal;
use foretell_wire::operator::OperatorCommand;

/// A command's name in reports.
#[must_use]
pub fn command_name(command: &OperatorCommand) -> &'static str {
    match command {
        OperatorCommand::RegisterEvent(_) => "register event",
        OperatorCommand::RegisterMarket(_) => "register market",
        OperatorCommand::SetMinimumSize(_) => "minimum size",
        OperatorCommand::SetTerms(_) => "terms",
        other => other.path().rsplit('/').next().unwrap_or_default(),
    }
}

/// The operator's command line for a registered market; `None` for other commands. It names the
/// market by its condition, because a slug is upstream text that must not reach a shell.
#[must_use]
pub fn command_line(command: &OperatorCommand) -> Option<String> {
    let condition = command.condition()?;
    let words = match command {
        OperatorCommand::ActivateMarket(_) => format!("activate {condition}"),
        OperatorCommand::CloseMarket(_) => format!("close {condition}"),
        OperatorCommand::PauseMarket(_) => format!("pause {condition}"),
        OperatorCommand::SetTerms(change) => {
            let clear = change.clear_book_on_start;
            let clear = clear.map(|clears| format!(" --clear-book-on-start {clears}"));
            let delay = change.taker_delay_ms;
            let delay = delay.map(|delay| format!(" --taker-delay-ms {delay}"));
            let rebate = change
                .rebate_ppm
                .map(|rebate| format!(" --rebate-ppm {rebate}"));
            let options = [clear, delay, rebate].into_iter().flatten();
            format!("terms {condition}{}", options.collect::<String>())
        }
        OperatorCommand::SetTick(change) => format!("tick {condition} {}", change.tick_size.text()),
        OperatorCommand::SetMinimumSize(change) => {
            let shares = Decimal::from(change.minimum_order_size);
            format!("minimum-size {condition} {shares}")
        }
        OperatorCommand::SetFee(fee) => {
            format!("fee {condition} {} {}", fee.rate_ppm, fee.exponent)
        }
        OperatorCommand::ResolveMarket(resolution) => {
            format!("resolve {condition} {}", resolution.payout.text())
        }
        _ => return None,
    };
    Some(format!("foretell market {words}"))
}
